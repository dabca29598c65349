// The form of a run: what is typed is judged by the studio as it is typed, so that errors, what k means, what retention
// keeps and how long such a run takes are always those of the form as it stands.
import { changedFields } from "./base.js";

const form = document.getElementById("order");
const token = document.querySelector('meta[name="csrf"]').content;
const SOON = 250;
const touched = new Set();
let waiting = null;
let asking = null;

for (const either of form.querySelectorAll(".either")) showOther(either);
for (const table of form.querySelectorAll(".plan table")) offerK(table);
document.querySelector("[data-added]")?.scrollIntoView({block: "start"});
document.querySelector("[data-added] input:not([type=hidden]), [data-added] select")?.focus();
if (document.getElementById("wrong")) form.querySelector('[aria-invalid="true"], .is-wrong input')?.focus();

form.addEventListener("input", (event) => {
  const either = event.target.closest(".either");
  if (either) showOther(either);
  touched.add(event.target.name);
  later();
});
form.addEventListener("change", later);
const typed = changedFields(form); // before this script was there
for (const field of typed) touched.add(field.name);
if (typed.length) later();

function showOther(either) {
  const other = either.querySelector("select").value === "other";
  const was = either.classList.contains("is-other");
  either.classList.toggle("is-other", other);
  if (other && !was && document.activeElement === either.querySelector("select")) either.querySelector("input").focus();
}

function later() {
  clearTimeout(waiting);
  waiting = setTimeout(ask, SOON);
}

async function ask() {
  asking?.abort();
  asking = new AbortController();
  let told;
  try {
    const answer = await fetch(form.dataset.check, {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      headers: {"X-CSRF-Token": token, Accept: "application/json"},
      signal: asking.signal,
    });
    if (!answer.ok) return;
    told = await answer.json();
  } catch {
    return; // another question came first, or nobody answers: the form still works without
  }
  for (const place of form.querySelectorAll("[data-field]")) showError(place, told.errors[place.dataset.field] ?? "");
  for (const [step, sentence] of Object.entries(told.meanings)) {
    document.getElementById(`meaning-${step}`).textContent = sentence;
  }
  for (const box of form.querySelectorAll(".plan")) showPlan(box, told.plans[box.id.replace("plan-", "")]);
  document.getElementById("takes-time").textContent = told.takes.time;
  document.getElementById("takes-note").textContent = told.takes.note;
  document.getElementById("takes-long").hidden = !told.takes.long;
  document.getElementById("judges").textContent = told.judges;
  if (Object.keys(told.errors).length === 0) {
    document.getElementById("wrong")?.remove();
    document.getElementById("whole").replaceChildren();
  }
}

function showError(place, text) {
  const field = place.classList.contains("field") ? place : place.querySelector(".field");
  const control = field.querySelector("input:not([type=hidden]), select, textarea");
  // a field nobody came to yet is not found fault with
  if (text && !touched.has(place.dataset.field) && !touched.has(`${place.dataset.field}.other`) && !field.matches(".is-wrong")) {
    return;
  }
  let said = field.querySelector(":scope > .wrong");
  field.classList.toggle("is-wrong", Boolean(text));
  if (!text) {
    said?.remove();
    control.removeAttribute("aria-invalid");
    return;
  }
  if (!said) {
    said = document.createElement("p");
    said.className = "wrong";
    said.id = `${control.id || place.dataset.field}-error`;
    field.append(said);
  }
  said.textContent = text;
  control.setAttribute("aria-invalid", "true");
  const told = new Set((control.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean));
  control.setAttribute("aria-describedby", [...told.add(said.id)].join(" "));
}

function showPlan(box, plan) {
  box.hidden = !plan;
  if (!plan) return;
  const table = box.querySelector("table");
  table.tHead.replaceChildren(row(plan.headings.map((text) => cell("th", text, {scope: "col"}))));
  table.tBodies[0].replaceChildren(
    ...plan.lines.map((line) => {
      const made = row([cell("th", line.k, {scope: "row"}), ...line.rho.map((text) => cell("td", text))]);
      if (line.own) made.setAttribute("aria-current", "true");
      return made;
    }),
  );
  box.querySelector(".note").textContent = plan.summary;
  offerK(table);
}

function offerK(table) {
  // a click on a line chooses its k
  const field = form.elements[`${table.dataset.step}.k`];
  if (!field) return;
  for (const line of table.tBodies[0].rows) {
    const head = line.querySelector("th");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.textContent = head.textContent;
    button.addEventListener("click", () => {
      field.value = button.textContent;
      const rho = form.elements[`${table.dataset.step}.rho`];
      if (rho) rho.value = "";
      touched.add(field.name);
      field.focus();
      later();
    });
    head.replaceChildren(button);
  }
}

function row(cells) {
  const made = document.createElement("tr");
  made.append(...cells);
  return made;
}

function cell(kind, text, attributes = {}) {
  const made = document.createElement(kind);
  made.className = "number";
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
