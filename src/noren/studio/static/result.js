// The page of a run: choices that change a part of the page without loading all of it.

import { announce } from "./base.js";
import { draw } from "./charts.js";

const asked = {};

/** Show another state of a part: the fragment at `address`; the page's own address follows. */
async function show(name, search) {
  const place = document.querySelector(`[data-part="${name}"]`);
  if (!place) return;
  asked[name]?.abort();
  const order = (asked[name] = new AbortController());
  place.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(`${place.dataset.from}?${search}`, { signal: order.signal, headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(answer.statusText);
    place.innerHTML = await answer.text();
    const all = new URLSearchParams(location.search);
    for (const key of name === "rows" ? ["start", "only_changed"] : ["a", "b"]) all.delete(key);
    for (const [key, value] of search) all.set(key, value);
    history.replaceState(null, "", `${location.pathname}?${all}`);
    for (const figure of place.querySelectorAll("figure.chart")) draw(figure);
    announce(place.querySelector("figcaption, .pager-place")?.textContent ?? "");
  } catch (error) {
    if (error.name !== "AbortError") location.search = search; // the whole page tells what is wrong
  } finally {
    if (asked[name] === order) place.removeAttribute("aria-busy");
  }
}

function chosen(form) {
  const own = form.dataset.swap === "rows" ? ["only_changed"] : ["a", "b"];
  return new URLSearchParams([...new FormData(form)].filter(([key, value]) => own.includes(key) && value));
}

/** Two columns, never the same: the other one takes the place that was left. */
function differ(form, changed) {
  const [a, b] = [form.elements.a, form.elements.b];
  const other = changed === a ? b : a;
  if (a.value === b.value) other.value = changed.dataset.before;
  for (const select of [a, b]) select.dataset.before = select.value;
}

for (const select of document.querySelectorAll('[data-swap="crosstab"] select')) select.dataset.before = select.value;

// --- tabs: links that work without this, here without loading the page -----------------------------------------------

function open(tab) {
  for (const link of document.querySelectorAll(".tabs a")) {
    const here = link.dataset.tab === tab;
    document.getElementById(`panel-${link.dataset.tab}`).hidden = !here;
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** An address may point into a panel that is not open. */
function openTarget() {
  const panel = document.getElementById(location.hash.slice(1))?.closest(".panel");
  if (panel?.hidden) {
    open(panel.id.slice("panel-".length));
    document.getElementById(location.hash.slice(1)).scrollIntoView();
  }
}
openTarget();
addEventListener("hashchange", openTarget);

document.querySelector(".tabs").addEventListener("click", (event) => {
  const tab = event.target.closest("a")?.dataset.tab;
  if (!tab || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(tab);
  const search = new URLSearchParams(location.search);
  search.set("tab", tab);
  history.replaceState(null, "", `${location.pathname}?${search}`);
});

document.documentElement.classList.add("is-smooth");

document.addEventListener("change", (event) => {
  if (event.target.name === "column") event.target.form.requestSubmit();
  const form = event.target.closest("[data-swap]");
  if (!form) return;
  if (form.dataset.swap === "crosstab") differ(form, event.target);
  show(form.dataset.swap, chosen(form)).then(() => {
    if (form.dataset.swap === "rows") document.querySelector('[data-swap="rows"] input[type="checkbox"]')?.focus();
  });
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-swap]");
  if (!form) return;
  event.preventDefault();
  show(form.dataset.swap, chosen(form));
});

document.addEventListener("click", (event) => {
  const link = event.target.closest('[data-part="rows"] .pager a');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const search = new URL(link.href).searchParams;
  for (const key of ["a", "b"]) search.delete(key);
  const rel = link.rel;
  show("rows", search).then(() => {
    const next = document.querySelector(`[data-part="rows"] .pager a[rel="${rel}"]`);
    (next ?? document.querySelector('[data-part="rows"] .pager a'))?.focus({ preventScroll: true });
  });
});

// a tip inside a box that scrolls would be cut off by it: it is placed on the window instead
function placeTip(tip) {
  const text = tip.querySelector(".tip-text");
  const mark = tip.getBoundingClientRect();
  tip.classList.add("is-placed");
  text.style.setProperty("--x", "8px"); // at the edge it would be measured narrower than it will be
  const box = text.getBoundingClientRect();
  const left = Math.max(8, Math.min(mark.left, document.documentElement.clientWidth - 8 - box.width));
  const below = mark.bottom + box.height < innerHeight;
  text.style.setProperty("--x", `${left}px`);
  text.style.setProperty("--y", `${below ? mark.bottom : mark.top - box.height}px`);
}

for (const kind of ["pointerover", "focusin"])
  document.addEventListener(kind, (event) => {
    const tip = event.target.closest?.(".scroll .tip");
    if (tip) placeTip(tip);
  });

function follow() {
  for (const tip of document.querySelectorAll(".tip.is-placed"))
    if (tip.matches(":hover, :focus-within")) placeTip(tip);
    else tip.classList.remove("is-placed");
}
addEventListener("scroll", follow, { capture: true, passive: true });
