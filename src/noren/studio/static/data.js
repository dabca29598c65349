// The page Data: files dropped or chosen, columns checked while a person says what they mean, small files, pages of rows.
import { announce, changedFields, send, showError, upload, watch } from "./base.js";
import { builderForm, manyFiles } from "./hierarchies.js";

// --- the way in ---------------------------------------------------------------------------------------------------

const drop = document.getElementById("drop");
if (drop) wayIn(drop);

function wayIn(drop) {
  const input = drop.querySelector("#file");
  const asking = drop.querySelector(".drop-ask");
  const going = drop.querySelector(".drop-progress");
  const said = drop.querySelector(".drop-status");
  const bar = going.querySelector("progress");
  const share = drop.querySelector(".drop-share");
  const wrong = drop.querySelector(".drop-error");
  const stop = drop.querySelector(".drop-stop");
  let busy = false;
  let stopped = null;

  function tell(words, file, done) {
    said.textContent = words.replace("{name}", file.name);
    bar.value = done;
    share.textContent = `${Math.floor(done * 100)}%`;
    if (words === drop.dataset.sending) stop.hidden = done === 1; // it is there
  }

  async function take(file) {
    if (!file || busy) return;
    showError(wrong, null);
    if (file.size > Number(drop.dataset.largest)) {
      showError(wrong, `${file.name}: ${drop.dataset.tooLarge}`);
      input.value = "";
      return;
    }
    busy = true;
    stopped = new AbortController();
    asking.hidden = true;
    going.hidden = false;
    tell(drop.dataset.sending, file, 0);
    stop.focus();
    announce(said.textContent);
    try {
      const asked = new URLSearchParams({ name: file.name.slice(-300) });
      for (const field of asking.querySelectorAll("[data-parameter]")) {
        const values = field.dataset.separator ? field.value.split(field.dataset.separator) : [field.value];
        for (const value of values) if (value.trim()) asked.append(field.dataset.parameter, value.trim());
      }
      const job = await upload(`${drop.dataset.to}?${asked}`, file, (done) => tell(drop.dataset.sending, file, done), stopped.signal);
      if (!job) {
        askAgain();
        announce(drop.dataset.stopped);
        wrong.textContent = drop.dataset.stopped;
        return;
      }
      tell(drop.dataset.working, file, 0);
      announce(said.textContent);
      const onward = drop.dataset.onward.replace("{job}", job.id);
      // a job with a page of its own shows there how far it is
      if (onward === drop.dataset.onward) await watch(job.id, (now) => tell(drop.dataset.working, file, now.done));
      // the page tells what was found, or what is wrong and where
      location.assign(onward);
    } catch (error) {
      askAgain();
      showError(wrong, error);
    }
  }

  function askAgain() {
    busy = false;
    asking.hidden = false;
    going.hidden = true;
    input.value = "";
    input.focus();
  }

  stop.addEventListener("click", () => stopped?.abort());
  input.addEventListener("change", () => take(input.files[0]));
  // a file dropped beside the box must not replace the page
  for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, () => drop.classList.add("is-over"));
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("is-over"));
  drop.addEventListener("drop", (event) => take(event.dataTransfer?.files[0]));
  take(input.files[0]); // chosen before this script was there
}

document.getElementById("reading-error")?.focus();

// --- what the columns mean ----------------------------------------------------------------------------------------

const form = document.getElementById("columns-form");
if (form) columnsForm(form, JSON.parse(document.getElementById("columns-script").textContent));

function columnsForm(form, facts) {
  const project = form.dataset.project;
  const groups = [...form.querySelectorAll(".column")];
  const told = document.getElementById("columns-said");
  const above = document.getElementById("columns-problems");
  const places = new Map(facts.names.map((name, index) => [name, index]));
  let asked = 0;

  const part = (name, index) => form.elements.namedItem(`${name}-${index}`);
  const kind = () => form.elements.namedItem("kind").value;
  const scaleOf = (type) => (type === "text" ? "text" : type === "integer" || type === "decimal" ? "number" : "time");

  function shape(group) {
    const index = group.dataset.index;
    const role = part("role", index);
    const type = part("type", index);
    for (const options of role.querySelectorAll("optgroup")) {
      const other = options.dataset.kind !== kind();
      options.hidden = options.disabled = other;
    }
    const chosen = role.selectedOptions[0]?.parentElement;
    if (chosen?.disabled) role.value = "";
    const named = kind() === "history" && facts.named.includes(role.value);
    if (named) type.value = "text";
    for (const option of type.options) option.disabled = named && option.value !== "text";
    const out = part("out", index).checked;
    group.classList.add("is-typed");
    for (const scale of ["text", "number", "time"]) group.classList.toggle(`of-${scale}`, scaleOf(type.value) === scale);
    group.querySelector(".role-meaning").textContent = facts.meanings[role.value] ?? "";
    group.querySelector(".scale-said").textContent = facts.scales[scaleOf(type.value)];
    group.classList.toggle("is-open", !role.value && !out);
    group.classList.toggle("is-out", out);
    if (role.value || out) role.removeAttribute("aria-invalid");
    else role.setAttribute("aria-invalid", "true");
  }

  /** Choose the option of a role in the group of the kind: two groups have "other". */
  function keepRole(group, value) {
    const role = part("role", group.dataset.index);
    const option = [...role.querySelectorAll(`optgroup[data-kind="${kind()}"] option`)].find((one) => one.value === value);
    role.value = "";
    if (option) option.selected = true;
  }

  function fieldsOf(index) {
    if (!part("row", index)) return facts.others[index];
    const text = (name) => part(name, index).value;
    return {
      name: facts.names[index], out: part("out", index).checked, role: text("role"), type: text("type"), width: text("width"),
      format: text("format"), number: text("number"), domain: text("domain"), minimum: text("minimum"), maximum: text("maximum"),
      optional: part("optional", index).checked, domains: untouched(part("domain", index), index),
    };
  }

  /** The values themselves where some hold line ends and nobody changed the list: a field cannot hold them. */
  function untouched(field, index) {
    return field.value === field.defaultValue ? facts.domains[index] : undefined;
  }

  function columnOf(fields) {
    const column = { name: fields.name, type: fields.type };
    if (fields.role) column.role = fields.role;
    if (fields.optional) column.optional = true;
    const scale = scaleOf(fields.type);
    if (scale === "text") {
      const domain = fields.domains ?? fields.domain.split(/\r\n|\r|\n/).filter((line) => line.trim());
      if (domain.length) column.domain = domain;
      return column;
    }
    for (const edge of ["minimum", "maximum"]) if (fields[edge].trim()) column[edge] = fields[edge].trim();
    if (scale === "number" && fields.width.trim()) column.width = fields.width.trim();
    if (scale === "number" && fields.number) column.number = fields.number;
    if (scale === "time" && fields.format.trim()) column.format = fields.format.trim();
    return column;
  }

  function order() {
    const fields = facts.names.map((_name, index) => fieldsOf(index));
    return {
      content: { name: "custom", kind: kind(), text: facts.text, guessed: facts.guessed, columns: fields.filter((one) => !one.out).map(columnOf) },
      leave_out: fields.filter((one) => one.out).map((one) => one.name),
    };
  }

  function show(problems) {
    above.replaceChildren();
    for (const group of groups) document.getElementById(`problems-${group.dataset.index}`).replaceChildren();
    told.replaceChildren();
    const list = document.createElement("ul");
    for (const problem of problems) {
      const index = places.get(problem.column);
      const words = problem.cure ? `${problem.message}; ${problem.cure}` : problem.message;
      const beside = index === undefined ? null : document.getElementById(`problems-${index}`);
      if (beside) {
        const line = document.createElement("p");
        line.className = problem.is_question ? "ask" : "wrong";
        line.textContent = words;
        beside.append(line);
      }
      const line = document.createElement("li");
      line.textContent = problem.column ? `${problem.column}: ${words}` : words;
      list.append(line);
    }
    const title = document.createElement("p");
    title.textContent = problems.length ? facts.words.problems : facts.words.fine;
    title.className = problems.length ? "warn" : "useful";
    told.append(title);
    if (problems.length) told.append(list);
  }

  async function check() {
    const mine = ++asked;
    try {
      const answer = await send("POST", `/api/v1/projects/${project}/schema/check`, order());
      if (mine === asked) show(answer.problems);
    } catch (error) {
      if (mine === asked) showError(told, error);
    }
  }

  let waiting = 0;
  function soon() {
    clearTimeout(waiting);
    waiting = setTimeout(check, 200);
  }

  form.addEventListener("change", (event) => {
    if (event.target.name === "kind") {
      for (const group of groups) {
        const before = part("role", group.dataset.index).value;
        shape(group);
        if (before === "other") keepRole(group, before);
        shape(group);
      }
      form.submit(); // rows are something else: what columns are for is guessed anew
      return;
    } else {
      const group = event.target.closest(".column");
      if (group) shape(group);
    }
    soon();
  });
  form.addEventListener("input", (event) => event.target.matches("input:not([type=radio], [type=checkbox]), textarea") && soon());
  form.addEventListener("submit", async (event) => {
    if (event.submitter?.name.startsWith("convert-")) return;
    event.preventDefault();
    const button = form.querySelector("button.primary");
    button.setAttribute("aria-busy", "true");
    clearTimeout(waiting);
    try {
      const asking = order();
      const answer = await send("POST", `/api/v1/projects/${project}/schema/check`, asking);
      asked += 1;
      const serious = answer.problems;
      show(serious);
      if (serious.length) {
        const first = groups.find((group) => document.getElementById(`problems-${group.dataset.index}`).childElementCount);
        announce(told.textContent);
        (first ? part("role", first.dataset.index) : button).focus();
        return;
      }
      form.submit();
    } catch (error) {
      showError(told, error);
      button.focus();
    } finally {
      button.removeAttribute("aria-busy");
    }
  });
  for (const button of form.querySelectorAll("[data-values]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const index = button.dataset.values;
      try {
        const found = await send("GET", `/api/v1/projects/${project}/values?column=${encodeURIComponent(facts.names[index])}`);
        if (found.total > found.values.length) return announce(facts.words.too_many.replace("{count}", found.total));
        part("domain", index).value = found.values.join("\n");
        announce(facts.words.values.replace("{count}", found.total));
        soon();
      } catch (error) {
        showError(document.getElementById(`problems-${index}`), error);
      }
    });
  }
  const typed = changedFields(form).length > 0; // before this script was there
  groups.forEach(shape);
  if (typed) soon();
}

// --- small files: hierarchies, categories -------------------------------------------------------------------------

for (const input of document.querySelectorAll("input[data-small]")) {
  input.addEventListener("change", async () => {
    const file = input.files[0];
    if (!file) return;
    const place = input.closest("form").querySelector(".small-error");
    showError(place, null);
    const address = new URL(input.dataset.small, location.href);
    address.searchParams.set("name", file.name.slice(-300));
    if (input.dataset.fill) address.searchParams.set("fill", document.getElementById(input.dataset.fill).checked);
    try {
      await upload(address, file);
      location.hash = input.dataset.at;
      location.reload();
    } catch (error) {
      input.value = "";
      showError(place, error);
      input.focus();
    }
  });
}
for (const form of document.querySelectorAll(".builder-form")) builderForm(form);
for (const form of document.querySelectorAll("form.many")) manyFiles(form);
const wanted = document.getElementById(location.hash.slice(1));
if (wanted instanceof HTMLDetailsElement) wanted.open = true;

// --- pages of rows without loading everything again ---------------------------------------------------------------

document.addEventListener("click", async (event) => {
  const link = event.target.closest("#rows .pager a[href]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  try {
    const answer = await fetch(link.href, { credentials: "same-origin" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const rows = page.getElementById("rows");
    if (!answer.ok || !rows) throw new Error(answer.statusText);
    document.getElementById("rows").replaceWith(document.adoptNode(rows));
    history.replaceState(null, "", link.href);
    const place = document.querySelector("#rows .pager-place");
    announce(place?.textContent ?? "");
    (document.querySelector(`#rows .pager a[rel="${link.rel}"]`) ?? document.querySelector("#rows .pager a[href]"))?.focus();
  } catch {
    location.assign(link.href);
  }
});
