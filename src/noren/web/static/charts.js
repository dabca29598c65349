// Draws every <figure class="chart"> of a page with the studio's own copy of Vega.
// Nothing is fetched and no code is made of text: expressions are interpreted, data come with the page.
// Pages that change a chart call draw(figure, spec).

import { word } from "./base.js";

const ROLES = /^\$([a-z-]+)$/;
const views = new WeakMap();

function colour(style, role) {
  return style.getPropertyValue(`--${role}`).trim() || "currentColor";
}

/** The chart with the theme's colours in place of their names; data are left as they are. */
function coloured(part, style) {
  if (typeof part === "string") {
    const role = ROLES.exec(part);
    return role ? colour(style, role[1]) : part;
  }
  if (Array.isArray(part)) return part.map((one) => coloured(one, style));
  if (part && typeof part === "object")
    return Object.fromEntries(
      Object.entries(part).map(([key, one]) => [key, key === "data" || key === "datasets" ? one : coloured(one, style)]),
    );
  return part;
}

// The look comes with each chart; the fonts are the page's.
function house(style) {
  const font = style.getPropertyValue("--type").trim();
  return { background: null, font, text: { font } };
}

// Vega asks its loader for data and for links: data never, links only within the studio.
const loader = {
  load: () => Promise.reject(new Error("nothing is fetched")),
  http: () => Promise.reject(new Error("nothing is fetched")),
  file: () => Promise.reject(new Error("nothing is fetched")),
  options: {},
  sanitize: (address) =>
    /^\/(?![/\\])/.test(address) ? Promise.resolve({ href: address }) : Promise.reject(new Error("not of this studio")),
};

function tooltip(handler, event, item, value) {
  let box = document.getElementById("vg-tooltip-element");
  if (!box) {
    box = document.createElement("div");
    box.id = "vg-tooltip-element";
    box.setAttribute("aria-hidden", "true"); // the numbers are in the table
    document.body.append(box);
  }
  if (value === null || value === undefined || value === "") return box.classList.remove("visible");
  box.replaceChildren();
  if (typeof value === "object") {
    const table = document.createElement("table");
    for (const [name, said] of Object.entries(value)) {
      const row = table.insertRow();
      const key = row.insertCell();
      key.className = "key";
      key.textContent = name;
      const cell = row.insertCell();
      cell.className = "value";
      cell.textContent = said;
    }
    box.append(table);
  } else box.textContent = value;
  box.classList.add("visible");
  const gap = 12;
  const wide = document.documentElement.clientWidth;
  const left = event.clientX + gap + box.offsetWidth > wide ? event.clientX - gap - box.offsetWidth : event.clientX + gap;
  const top = event.clientY + gap + box.offsetHeight > innerHeight ? event.clientY - gap - box.offsetHeight : event.clientY + gap;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

const NARROW = 520;

/** The chart for a place of this width: some have another one for narrow places. */
function fitting({ narrow, ...chart }, plot) {
  return narrow && plot.clientWidth < NARROW ? narrow : chart;
}

/** Draw a chart (or one again, in other colours or with other numbers). */
export async function draw(figure, spec) {
  const kept = figure.querySelector("script.spec");
  if (spec) kept.textContent = JSON.stringify(spec);
  const plot = figure.querySelector(".plot");
  const chart = fitting(spec ?? JSON.parse(kept.textContent), plot);
  const style = getComputedStyle(document.documentElement);
  figure.dataset.drawn = style.colorScheme.includes("dark") ? "dark" : "light"; // print turns the dark ones over
  const said = figure.querySelector("figcaption")?.textContent.trim() ?? "";
  const panels = chart.panels ?? [chart];
  const turn = (views.get(figure)?.turn ?? 0) + 1;
  const before = views.get(figure)?.views ?? [];
  views.set(figure, { turn, views: before });
  const made = [];
  const isLatest = () => views.get(figure).turn === turn; // or asked again meanwhile
  try {
    const places = panels.map((panel) => {
      const place = document.createElement("div");
      place.className = "panel";
      return place;
    });
    const aside = document.createElement("div");
    aside.className = `panels panels-${Math.min(panels.length, 4)}`;
    aside.append(...places);
    plot.style.minHeight = `${plot.offsetHeight}px`; // the page does not jump while it is drawn again
    plot.setAttribute("aria-busy", "true");
    plot.replaceChildren(aside);
    for (const [i, panel] of panels.entries()) {
      const title = typeof panel.title === "string" ? panel.title : (panel.title?.text ?? "");
      const named = { ...panel, description: [said, title].filter(Boolean).join(": ") };
      const { view } = await window.vegaEmbed(places[i], coloured(named, style), {
        mode: "vega-lite",
        actions: false,
        ast: true,
        defaultStyle: false,
        renderer: "svg",
        hover: false,
        loader,
        tooltip,
        config: house(style),
        logLevel: 1,
      });
      made.push(view);
      if (!isLatest()) {
        for (const one of made) one.finalize();
        return;
      }
    }
    for (const view of before) view.finalize();
    views.set(figure, { turn, views: made });
    plot.classList.remove("is-wrong");
  } catch (error) {
    if (!isLatest()) return;
    plot.classList.add("is-wrong");
    plot.textContent = word("no_chart");
    console.error(error);
  } finally {
    if (isLatest()) {
      plot.style.minHeight = "";
      plot.setAttribute("aria-busy", "false");
    }
  }
}

/** Draw every chart of the page in turn; those that are folded away wait until they are seen. */
export async function drawAll(root = document) {
  const seen = new IntersectionObserver((entries, observer) => {
    for (const entry of entries)
      if (entry.isIntersecting) {
        observer.unobserve(entry.target);
        draw(entry.target);
      }
  });
  for (const figure of root.querySelectorAll("figure.chart"))
    if (figure.offsetWidth > 0) await draw(figure);
    else seen.observe(figure);
}

function redraw() {
  for (const figure of document.querySelectorAll("figure.chart")) if (views.has(figure)) draw(figure);
}

function follow() {
  const root = document.documentElement;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new MutationObserver(redraw).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
}

drawAll();
follow();
