// Uploads with progress, the progress of scoring, and the form of a new contest with its files.
import { announce, send, showError, upload } from "./base.js";

// --- uploads ------------------------------------------------------------------------------------------------------

const texts = JSON.parse(document.getElementById("send-texts")?.textContent ?? "{}");

function setUpUpload(drop) {
  const input = drop.querySelector("input[type=file]");
  const prompt = drop.querySelector(".drop-ask");
  const progress = drop.querySelector(".drop-progress");
  const status = drop.querySelector(".drop-said");
  const bar = progress.querySelector("progress");
  const errorBox = drop.querySelector(".drop-error");
  let busy = false;

  async function take(file) {
    if (!file || busy) return;
    showError(errorBox, null);
    if (file.size > Number(drop.dataset.largest)) {
      showError(errorBox, `${file.name}: ${texts.too_large}`);
      input.value = "";
      return;
    }
    busy = true;
    prompt.hidden = true;
    progress.hidden = false;
    status.textContent = texts.sending.replace("{name}", file.name);
    announce(status.textContent);
    try {
      await upload(drop.dataset.send, file, (done) => (bar.value = done));
      status.textContent = texts.received;
      announce(texts.received);
      openPage(drop.dataset.onward);
    } catch (error) {
      busy = false;
      prompt.hidden = false;
      progress.hidden = true;
      input.value = "";
      showError(errorBox, error);
      input.focus();
    }
  }

  input.addEventListener("change", () => take(input.files[0]));
  for (const kind of ["dragenter", "dragover"])
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.add("is-over");
    });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("is-over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer?.files[0]);
  });
  take(input.files[0]); // chosen before this script was there
}

/** Open a page, also where it is this very one with another place in it. */
function openPage(address) {
  const there = new URL(address, location.href);
  if (there.pathname !== location.pathname) return location.assign(there);
  location.hash = there.hash;
  location.reload();
}

for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
for (const drop of document.querySelectorAll(".drop[data-send]")) setUpUpload(drop);

// --- progress of scoring ----------------------------------------------------------------------------------------

const OFTEN = 1000;
const SELDOM = 8000;

function follow(box) {
  const { contest, submission } = box.dataset;
  let wait = OFTEN;
  let lastState = "";

  async function ask() {
    try {
      const now = await send("GET", `/api/v1/contests/${contest}/submissions/${submission}`);
      if (now.state !== "waiting" && now.state !== "running") return location.reload();
      box.querySelector("progress").value = now.done;
      const state = JSON.stringify([now.state, now.before, now.words, now.seconds, now.trouble]);
      if (state !== lastState || document.getElementById("on-cluster")) {
        if (state !== lastState) wait = OFTEN;
        lastState = state;
        await refreshProgress(box);
      }
    } catch {
      // nobody answers: ask again, more seldom
    }
    wait = Math.min(wait * 1.2, SELDOM);
    setTimeout(ask, document.hidden ? SELDOM : wait);
  }

  setTimeout(ask, OFTEN / 2);
}

/** Show the progress of scoring in the server's words. */
async function refreshProgress(box) {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const text = page.querySelector(`section.progress[data-submission="${box.dataset.submission}"] .progress-words`);
  const shown = box.querySelector(".progress-words");
  if (text && text.textContent !== shown.textContent) shown.textContent = text.textContent;
  const [fresh, old] = [page, document].map((one) => one.getElementById("on-cluster"));
  if (fresh && old && fresh.textContent !== old.textContent) old.replaceWith(fresh);
  else if (fresh && !old) box.after(fresh);
}

for (const box of document.querySelectorAll("section.progress[data-submission]")) follow(box);

// --- a new contest ------------------------------------------------------------------------------------------------

const form = document.getElementById("new-contest");
if (form) {
  form.addEventListener("submit", async (event) => {
    const files = form.elements.data.value === "files";
    if (!files || event.submitter?.hasAttribute("data-plain")) return;
    event.preventDefault();
    const token = document.querySelector('meta[name="csrf"]').content;
    event.submitter.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch("/contests", { method: "POST", headers: { "X-CSRF-Token": token }, body: new FormData(form) });
      if (answer.redirected) return location.assign(answer.url);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const told = page.getElementById("new-wrong") ?? page.querySelector("h1");
      const place = document.getElementById("new-wrong");
      place.replaceChildren(...[...told.childNodes].map((node) => document.adoptNode(node)));
      place.focus();
      place.scrollIntoView();
    } catch (error) {
      showError(document.getElementById("new-wrong"), error);
    } finally {
      event.submitter.removeAttribute("aria-busy");
    }
  });
}
