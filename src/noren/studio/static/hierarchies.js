// Hierarchies on the page Data: help for the builder that is chosen, groups by drag and drop, many files at once.
import { announce, send, showError } from "./base.js";

const MOST_VALUES = 300;

/** Show what the chosen builder asks for, and boxes to drag values into where it is groups. */
export function builderForm(form) {
  const by = form.elements.namedItem("by");
  const text = form.elements.namedItem("with");
  const grouper = form.querySelector(".grouper");
  form.classList.add("is-typed");

  function chosen() {
    for (const line of form.querySelectorAll(".help [data-by]")) line.classList.toggle("is-chosen", line.dataset.by === by.value);
    const groups = by.value === "groups";
    grouper.hidden = !groups;
    text.rows = groups ? 6 : 2;
    const opened = !form.closest("details") || form.closest("details").open;
    if (groups && opened && !grouper.dataset.loaded) {
      grouper.dataset.loaded = "yes"; // before the values arrive: two events may come in the meantime
      groupBoxes(form, grouper, text);
    }
  }

  by.addEventListener("change", chosen);
  form.closest("details")?.addEventListener("toggle", chosen);
  chosen();
}

// --- groups -------------------------------------------------------------------------------------------------------

/** Return the cells of a line in ARX's form; the last star says nothing. */
function cellsOf(line) {
  const cells = [];
  for (const found of line.matchAll(/(?:^|;)(?:"((?:[^"]|"")*)"|([^;]*))/g)) {
    cells.push((found[1] !== undefined ? found[1].replaceAll('""', '"') : found[2]).trim());
  }
  while (cells.length > 1 && (cells.at(-1) === "" || cells.at(-1) === "*")) cells.pop();
  return cells;
}

/** Return the rows of a text, lines or JSON; JSON that is not whole has none. */
function rowsOf(text) {
  if (!text.trimStart().startsWith("{")) return text.split(/\r\n|\r|\n/).map(cellsOf);
  const rows = [];
  const walk = (inner, above) => {
    if (Array.isArray(inner)) rows.push(...inner.map((value) => [String(value), ...above]));
    else if (inner && typeof inner === "object") for (const [label, more] of Object.entries(inner)) walk(more, [label, ...above]);
  };
  try {
    walk(JSON.parse(text), []);
  } catch {
    return [];
  }
  return rows;
}

const cellText = (cell) => (/[;"\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

async function groupBoxes(form, place, text) {
  const words = JSON.parse(place.dataset.words);
  let values;
  try {
    const found = await send("GET", `/api/v1/projects/${form.dataset.project}/values?column=${encodeURIComponent(form.dataset.column)}`);
    if (found.total > MOST_VALUES) {
      place.replaceChildren(line("p", words.many.replace("{most}", MOST_VALUES), "note"));
      return;
    }
    values = found.values;
  } catch (error) {
    showError(place, error);
    return;
  }
  const group = new Map(values.map((value) => [value, ""])); // the group of each value
  const wider = new Map(); // the labels above each group
  let empty = new Set(); // groups that were added and hold nothing yet

  function read() {
    for (const value of values) group.set(value, "");
    wider.clear();
    for (const [value, own, ...above] of rowsOf(text.value)) {
      if (!own) continue;
      group.set(value, own);
      if (above.length && !wider.has(own)) wider.set(own, above);
    }
  }

  function write() {
    const rows = [...group].filter(([, own]) => own).map(([value, own]) => [value, own, ...(wider.get(own) ?? [])]);
    text.value = rows.map((row) => row.map(cellText).join(";")).join("\n");
  }

  function move(value, own) {
    group.set(value, own);
    empty.delete(own);
    write();
    draw();
    announce(words.moved.replace("{value}", value).replace("{group}", own || words.free));
    boxes.querySelector(`[data-place="${[...group.keys()].indexOf(value)}"] select`)?.focus();
  }

  const hint = line("p", words.hint, "note");
  const boxes = line("div", "", "group-boxes");
  const adding = line("div", "", "row group-new");
  const name = document.createElement("input");
  name.setAttribute("aria-label", words.new);
  name.placeholder = words.new;
  name.className = "short";
  const add = line("button", words.add);
  add.type = "button";
  adding.append(name, add);
  place.replaceChildren(hint, adding, boxes);

  function addGroup() {
    const own = name.value.trim();
    if (!own || own === "*") return;
    empty.add(own);
    name.value = "";
    draw();
    name.focus();
  }
  add.addEventListener("click", addGroup);
  name.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the form is not sent yet
    addGroup();
  });

  function draw() {
    const names = [...new Set([...group.values(), ...empty])].filter(Boolean).sort();
    boxes.replaceChildren(...["", ...names].map((own) => box(own, names)));
  }

  function box(own, names) {
    const made = line("section", "", "group-box");
    const list = document.createElement("ul");
    const inside = [...group].map(([value, its], at) => [value, its, at]).filter(([, its]) => its === own);
    made.append(line("h3", `${own || words.free} (${inside.length})`), list);
    for (const [value, , at] of inside) {
      const item = line("li", "", "group-value");
      item.draggable = true;
      item.dataset.place = at;
      const select = document.createElement("select");
      select.setAttribute("aria-label", words.move.replace("{value}", value));
      for (const one of ["", ...names]) select.add(new Option(one || "–", one, one === own, one === own));
      select.addEventListener("change", () => move(value, select.value));
      item.append(line("span", value), select);
      item.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", value));
      list.append(item);
    }
    made.addEventListener("dragover", (event) => {
      event.preventDefault();
      made.classList.add("is-over");
    });
    made.addEventListener("dragleave", () => made.classList.remove("is-over"));
    made.addEventListener("drop", (event) => {
      event.preventDefault();
      const value = event.dataTransfer.getData("text/plain");
      if (group.has(value)) move(value, own);
    });
    return made;
  }

  text.addEventListener("change", () => {
    read();
    draw();
  });
  read();
  draw();
}

function line(kind, words, of = "") {
  const made = document.createElement(kind);
  made.textContent = words;
  if (of) made.className = of;
  return made;
}

// --- many files ---------------------------------------------------------------------------------------------------

/** Send files together and list what became of each. */
export function manyFiles(form) {
  const input = form.querySelector("input[type=file]");
  const place = form.querySelector(".many-answers");
  const words = JSON.parse(form.dataset.words);

  input.addEventListener("change", async () => {
    const files = [...input.files];
    if (!files.length) return;
    place.replaceChildren();
    try {
      const large = files.find((file) => file.size > Number(form.dataset.largest));
      if (large) throw new Error(`${large.name}: ${words.large}`);
      const sent = await Promise.all(files.map(async (file) => ({ name: file.name.slice(-300), content: await inBase64(file) })));
      const told = await send("POST", form.dataset.address, { files: sent });
      if (told.every((one) => one.accepted)) {
        location.hash = "hierarchies";
        location.reload();
        return;
      }
      place.append(...told.flatMap((one) => answerOf(one, words)));
      if (told.some((one) => one.accepted)) {
        const again = line("button", words.again);
        again.type = "button";
        again.addEventListener("click", () => {
          location.hash = "hierarchies";
          location.reload();
        });
        place.append(again);
      }
    } catch (error) {
      showError(place, error);
    }
    input.value = "";
    input.focus();
  });
}

function answerOf(one, words) {
  const said = (one.accepted ? words.accepted : words.refused).replace("{file}", one.name).replace("{column}", one.column ?? "");
  const title = line("p", said, one.accepted ? "useful" : "wrong");
  const list = document.createElement("ul");
  for (const problem of [...one.problems, ...one.notes]) list.append(line("li", problem));
  if (one.total > one.problems.length) list.append(line("li", words.more.replace("{count}", one.total - one.problems.length)));
  return list.childElementCount ? [title, list] : [title];
}

async function inBase64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}
