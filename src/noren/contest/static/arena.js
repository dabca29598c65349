// Handing in files with their progress, following the judge, and sending a new contest with its files.
import { announce, send, showError, upload } from "./base.js";

// --- handing in ---------------------------------------------------------------------------------------------------

const words = JSON.parse(document.getElementById("send-words")?.textContent ?? "{}");

function wayIn(drop) {
  const input = drop.querySelector("input[type=file]");
  const asking = drop.querySelector(".drop-ask");
  const going = drop.querySelector(".drop-progress");
  const said = drop.querySelector(".drop-said");
  const bar = going.querySelector("progress");
  const wrong = drop.querySelector(".drop-error");
  let busy = false;

  async function take(file) {
    if (!file || busy) return;
    showError(wrong, null);
    if (file.size > Number(drop.dataset.largest)) {
      showError(wrong, `${file.name}: ${words.too_large}`);
      input.value = "";
      return;
    }
    busy = true;
    asking.hidden = true;
    going.hidden = false;
    said.textContent = words.sending.replace("{name}", file.name);
    announce(said.textContent);
    try {
      await upload(drop.dataset.send, file, (done) => (bar.value = done));
      said.textContent = words.received;
      announce(words.received);
      showAnew(drop.dataset.onward);
    } catch (error) {
      busy = false;
      asking.hidden = false;
      going.hidden = true;
      input.value = "";
      showError(wrong, error);
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
function showAnew(address) {
  const there = new URL(address, location.href);
  if (there.pathname !== location.pathname) return location.assign(there);
  location.hash = there.hash;
  location.reload();
}

for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
for (const drop of document.querySelectorAll(".drop[data-send]")) wayIn(drop);

// --- following the judge ------------------------------------------------------------------------------------------

const OFTEN = 1000;
const SELDOM = 8000;

function follow(box) {
  const { contest, submission } = box.dataset;
  let wait = OFTEN;
  let heard = "";

  async function ask() {
    try {
      const now = await send("GET", `/api/v1/contests/${contest}/submissions/${submission}`);
      if (now.state !== "waiting" && now.state !== "running") return location.reload();
      box.querySelector("progress").value = now.done;
      const news = JSON.stringify([now.state, now.before, now.words, now.seconds, now.trouble]);
      if (news !== heard || document.getElementById("on-cluster")) {
        if (news !== heard) wait = OFTEN;
        heard = news;
        await sayAnew(box);
      }
    } catch {
      // nobody answers: ask again, more seldom
    }
    wait = Math.min(wait * 1.2, SELDOM);
    setTimeout(ask, document.hidden ? SELDOM : wait);
  }

  setTimeout(ask, OFTEN / 2);
}

/** Say how far the judge is, in the words of the server. */
async function sayAnew(box) {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const words = page.querySelector(`section.progress[data-submission="${box.dataset.submission}"] .progress-words`);
  const said = box.querySelector(".progress-words");
  if (words && words.textContent !== said.textContent) said.textContent = words.textContent;
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
