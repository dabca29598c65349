// What every page has: speaking with the studio, telling what happened, dialogs, tips, progress of jobs.
// Pages import from here: import {send, announce, watch, word} from "./base.js";

import { watch as follow } from "./live.js";

const token = document.querySelector('meta[name="csrf"]')?.content ?? "";
const words = JSON.parse(document.getElementById("words")?.textContent ?? "{}");

/** A word of the page's language, given by the server. */
export function word(name) {
  return words[name] ?? name;
}

/** An answer that says why there is no other: message, and where it is known row, column, value, rule, cure, status. */
export class Refusal extends Error {
  constructor(said, status) {
    super(said.message ?? word("no_answer"));
    Object.assign(this, said, { status });
  }
}

/**
 * Ask the studio something and return its answer (JSON, or null where there is none); throws a Refusal.
 * content: plain data are sent as JSON; a Blob, File or text is sent as it is.
 */
export async function send(method, url, content, options = {}) {
  const headers = { "X-CSRF-Token": token, Accept: "application/json" };
  let body;
  if (content !== undefined && content !== null) {
    const raw = content instanceof Blob || typeof content === "string";
    headers["Content-Type"] = raw ? "application/octet-stream" : "application/json";
    body = raw ? content : JSON.stringify(content);
  }
  let answer;
  try {
    answer = await fetch(url, { method, headers, body, credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal({ message: word("no_answer") }, 0);
  }
  const text = await answer.text();
  let said = null;
  try {
    said = text ? JSON.parse(text) : null;
  } catch {
    said = null;
  }
  if (!answer.ok) throw new Refusal(said?.error ?? {}, answer.status);
  return said;
}

/**
 * Send a file and hear how much has gone (0 to 1); returns the answer, throws a Refusal.
 * An AbortSignal stops it: then the answer is null, and the server keeps nothing.
 */
export function upload(url, file, progress = () => {}, signal = undefined) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    signal?.addEventListener("abort", () => request.abort());
    request.addEventListener("abort", () => resolve(null));
    request.open("PUT", url);
    request.setRequestHeader("X-CSRF-Token", token);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) progress(event.loaded / event.total);
    });
    request.addEventListener("error", () => reject(new Refusal({ message: word("no_answer") }, 0)));
    request.addEventListener("load", () => {
      let said = null;
      try {
        said = JSON.parse(request.responseText);
      } catch {
        said = null;
      }
      if (request.status >= 200 && request.status < 300) resolve(said);
      else reject(new Refusal(said?.error ?? {}, request.status));
    });
    request.send(file);
  });
}

/** Tell people who listen to the page what happened. */
export function announce(text) {
  const region = document.getElementById("live");
  if (!region) return;
  region.textContent = "";
  setTimeout(() => (region.textContent = text), 30);
}

/** Show what is wrong (a Refusal or a text) in an element next to the thing; nothing clears it. */
export function showError(place, error) {
  place.replaceChildren();
  if (!error) return;
  const box = document.createElement("div");
  box.className = "error-box";
  box.setAttribute("role", "alert");
  const message = document.createElement("p");
  message.className = "error-message";
  const [first, ...lines] = String(error.message ?? error).trim().split("\n");
  message.textContent = "▲ " + first;
  box.append(message);
  if (lines.length) {
    const list = document.createElement("ul");
    list.className = "error-lines";
    for (const line of lines.filter((one) => one.trim())) {
      const item = document.createElement("li");
      item.textContent = line.trim().replace(/^[-•\s]+/, "");
      list.append(item);
    }
    box.append(list);
  }
  if (error.cure && !message.textContent.includes(error.cure)) {
    const cure = document.createElement("p");
    cure.className = "error-cure";
    cure.textContent = error.cure;
    box.append(cure);
  }
  place.append(box);
}

/** Ask yes or no in a dialog; returns a promise of the answer. */
export function ask(question, { yes = word("yes"), no: otherwise = word("no"), danger = false } = {}) {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", question);
  const said = document.createElement("p");
  said.textContent = question;
  const form = document.createElement("form");
  form.method = "dialog";
  form.className = "actions";
  const no = document.createElement("button");
  no.value = "no";
  no.textContent = otherwise;
  no.autofocus = true;
  const agree = document.createElement("button");
  agree.value = "yes";
  agree.className = danger ? "danger" : "primary";
  agree.textContent = yes;
  form.append(no, agree);
  dialog.append(said, form);
  document.body.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes");
      dialog.remove();
    });
    dialog.showModal();
  });
}

/** Follow a job: `changed(job)` each time something changed; the promise gives the whole job as it ended. */
export function watch(job, changed = () => {}) {
  return new Promise((resolve, reject) => {
    follow(job, {
      changed,
      over: () => send("GET", `/api/v1/jobs/${job}`).then(resolve, reject),
      gone: () => reject(new Refusal({ message: word("gone") }, 404)),
      lost: () => announce(word("no_answer")),
    });
  });
}

// --- what pages get without asking ----------------------------------------------------------------------------

function confirmForms() {
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    const question = event.submitter?.dataset.confirm ?? form.dataset.confirm;
    if (!question || form.elements.sure) return;
    event.preventDefault();
    const submitter = event.submitter;
    const danger = Boolean(submitter?.classList.contains("danger"));
    const said = submitter?.dataset ?? {};
    const yes = said.yes || submitter?.textContent.trim() || word("yes");
    if (!(await ask(question, { yes, no: said.no, danger }))) return;
    const sure = document.createElement("input");
    sure.type = "hidden";
    sure.name = "sure";
    sure.value = "yes";
    form.append(sure);
    form.requestSubmit(submitter);
  });
}

function tips() {
  const place = (tip) => {
    const text = tip.querySelector(".tip-text");
    if (!text) return;
    text.style.setProperty("--shift", "0px");
    const box = text.getBoundingClientRect();
    const edge = document.documentElement.clientWidth - 8;
    const shift = box.left < 8 ? 8 - box.left : box.right > edge ? edge - box.right : 0;
    text.style.setProperty("--shift", `${shift}px`);
  };
  for (const kind of ["pointerover", "focusin"])
    document.addEventListener(kind, (event) => {
      const tip = event.target.closest?.(".tip");
      if (tip) place(tip);
    });
  for (const kind of ["pointerout", "focusout"])
    document.addEventListener(kind, (event) => {
      const tip = event.target.closest?.(".tip");
      if (tip && !tip.contains(event.relatedTarget)) tip.classList.remove("is-shut");
    });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const tip of document.querySelectorAll(".tip")) tip.classList.add("is-shut");
  });
}

const MOST_WATCHED = 3; // a browser holds few connections to one place; when one is over, the next is watched
const watched = new WeakSet();
let watching = 0;

function boxesOfJobs(root = document) {
  for (const box of root.querySelectorAll("section.progress[data-job]")) {
    for (const button of box.querySelectorAll("[data-act]"))
      button.addEventListener("click", async (event) => {
        event.preventDefault();
        const { question, yes, no } = button.dataset;
        if (question && !(await ask(question, { yes, no }))) return;
        button.setAttribute("aria-busy", "true");
        try {
          await send("POST", `/api/v1/jobs/${box.dataset.job}/${button.dataset.act}`);
          if (button.dataset.act === "again") location.reload();
          else if (button.dataset.act === "enough") announce(word("stopping"));
        } catch (error) {
          announce(error.message);
        } finally {
          button.removeAttribute("aria-busy");
        }
      });
  }
  watchBoxes();
}

function watchBoxes() {
  for (const box of document.querySelectorAll("section.progress[data-job]")) {
    const state = box.dataset.state;
    if ((state !== "waiting" && state !== "running") || watched.has(box)) continue;
    if (watching >= MOST_WATCHED) return;
    watched.add(box);
    watching += 1;
    watchBox(box).finally(() => {
      watching -= 1;
      watchBoxes();
    });
  }
}

async function watchBox(box) {
  const bar = box.querySelector("progress");
  const share = box.querySelector(".progress-share");
  const said = box.querySelector(".progress-said");
  const best = box.querySelector(".progress-best");
  try {
    const ended = await watch(box.dataset.job, (job) => {
      if (bar) bar.value = job.done;
      if (share) share.textContent = `${Math.floor(job.done * 100)}%`;
      if (said && job.words) said.textContent = job.words;
      if (best && job.best !== null && job.best !== undefined) {
        best.hidden = false;
        best.querySelector("strong").textContent = job.best.toFixed(3);
      }
      box.dispatchEvent(new CustomEvent("job-changed", { bubbles: true, detail: job }));
    });
    box.dispatchEvent(new CustomEvent("job-over", { bubbles: true, detail: ended }));
    announce(word(ended.state));
    if (ended.state === "done" && box.dataset.onward) location.assign(box.dataset.onward);
    else if ("reload" in box.dataset) showAnew(box);
  } catch (error) {
    announce(error.message);
  }
}

/** Wait until no such dialog is open: none is taken away from who reads or answers it. False if one said yes. */
function undisturbed(dialogs) {
  const open = document.querySelector(dialogs);
  if (!open) return Promise.resolve(true);
  return new Promise((resolve) =>
    open.addEventListener("close", () => resolve(open.returnValue === "yes" ? false : undisturbed(dialogs)), { once: true }),
  );
}

/** Show what became of a job: only its part of the page where that stands alone, else the whole page. */
async function showAnew(box) {
  const part = box.closest("[data-alone]");
  const free = await undisturbed(part ? "dialog[open]:not(#tour)" : "dialog[open]");
  if (!free) return; // the page goes where the answer leads
  if (!part) return location.reload();
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = answer.ok ? page.getElementById(part.id) : null;
  if (!fresh) return;
  for (const [i, details] of part.querySelectorAll("details").entries())
    if (details.open) fresh.querySelectorAll("details")[i]?.setAttribute("open", "");
  part.replaceWith(document.adoptNode(fresh));
  document.querySelector("h1").textContent = page.querySelector("h1").textContent;
  document.title = page.title;
  localTimes(fresh);
  boxesOfJobs(fresh);
}

/** The fields of a form that say something else than the page came with: typed before its script was there, or kept. */
export function changedFields(form) {
  const changed = (field) => {
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    if (!(field instanceof HTMLSelectElement)) return field.value !== field.defaultValue;
    const first = [...field.options].findIndex((option) => option.defaultSelected);
    return !field.multiple && field.selectedIndex !== Math.max(first, 0);
  };
  const fields = form.querySelectorAll("input:not([type=hidden], [type=file]), select, textarea");
  return [...fields].filter(changed);
}

/** Say moments in the viewer's own time and way. */
export function localTimes(root = document) {
  const language = document.documentElement.lang;
  for (const time of root.querySelectorAll("time[data-local]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.textContent = moment.toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
  }
}

/** The tour: on the first visit, and whenever somebody asks. A browser that a program steers is not shown around. */
function tour() {
  const dialog = document.getElementById("tour");
  if (!dialog) return;
  const steps = [...dialog.querySelectorAll(".tour-step")];
  const next = dialog.querySelector('[data-tour="next"]');
  const back = dialog.querySelector('[data-tour="back"]');
  const goOn = next.textContent;
  let at = 0;
  const remembered = () => {
    try {
      return localStorage.getItem("noren-tour") === "seen";
    } catch {
      return true; // nothing can be remembered: do not ask each time
    }
  };
  const point = (place) => {
    for (const entry of document.querySelectorAll(".rail li a"))
      entry.classList.toggle("is-pointed", Boolean(place) && entry.dataset.place === place);
  };
  const show = (step) => {
    at = step;
    steps.forEach((one, i) => (one.hidden = i !== at));
    back.hidden = at === 0;
    next.textContent = at === steps.length - 1 ? next.dataset.last : goOn;
    point(steps[at].dataset.place);
    steps[at].querySelector("h3").focus();
  };
  const open = () => {
    dialog.showModal();
    show(0);
    try {
      localStorage.setItem("noren-tour", "seen");
    } catch {
      // shown again next time
    }
  };
  next.addEventListener("click", () => (at === steps.length - 1 ? dialog.close() : show(at + 1)));
  back.addEventListener("click", () => show(at - 1));
  dialog.querySelector('[data-tour="close"]').addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight" && at < steps.length - 1) show(at + 1);
    if (event.key === "ArrowLeft" && at > 0) show(at - 1);
  });
  dialog.addEventListener("close", () => point(null));
  for (const link of document.querySelectorAll('a[data-tour="open"]'))
    link.addEventListener("click", (event) => {
      event.preventDefault();
      open();
    });
  const asked = new URLSearchParams(location.search).has("tour");
  if (asked || (!navigator.webdriver && location.pathname === "/" && !remembered())) open();
}

localTimes();
tour();
confirmForms();
tips();
boxesOfJobs();
