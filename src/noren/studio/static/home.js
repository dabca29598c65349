// A new project from a file: named, sent and opened in one go.

import { announce, send, showError, upload } from "./base.js";

const words = JSON.parse(document.getElementById("home-words").textContent);
const form = document.getElementById("new-project");
const drop = document.getElementById("drop");
const input = document.getElementById("file");
const name = document.getElementById("new-name");
const source = document.getElementById("new-source");
const button = document.getElementById("new-button");
const bar = document.getElementById("sent");
const sending = document.getElementById("sending");
const share = document.getElementById("sent-share");
const stop = document.getElementById("stop-sending");
const wrong = document.getElementById("upload-error");
let chosen = null;
let project = null;
let stopped = null;

function choose(file) {
  if (!file) return;
  chosen = file;
  if (!name.value.trim()) name.value = file.name.replace(/\.[^.]+$/, "").slice(0, 120);
  document.getElementById("drop-words").textContent = file.name;
  source.disabled = true;
  showError(wrong, null);
  announce(file.name);
}

function told(done) {
  bar.value = done;
  share.textContent = `${Math.floor(done * 100)}%`;
  stop.hidden = done === 1; // it is there
}

async function begin() {
  button.disabled = true;
  stopped = new AbortController();
  showError(wrong, null);
  try {
    project ??= await send("POST", "/api/v1/projects", { name: name.value });
    told(0);
    sending.hidden = false;
    stop.focus();
    announce(words.sending.replace("{name}", chosen.name));
    const address = `/api/v1/projects/${project.id}/file?name=${encodeURIComponent(chosen.name)}`;
    const job = await upload(address, chosen, told, stopped.signal);
    if (job) location.assign(`/projects/${project.id}/data`);
    else await forget();
  } catch (error) {
    again();
    showError(wrong, error);
  }
}

/** A project that was made for a file which is not to come is nobody's. */
async function forget() {
  const made = project;
  project = null;
  await send("DELETE", `/api/v1/projects/${made.id}`);
  again();
  announce(words.stopped);
  document.getElementById("drop-words").textContent = words.stopped;
}

function again() {
  sending.hidden = true;
  button.disabled = false;
  button.focus();
}

stop.addEventListener("click", () => stopped?.abort());
drop.hidden = false;
form.addEventListener("submit", (event) => {
  if (!chosen) return;
  event.preventDefault();
  begin();
});
input.addEventListener("change", () => choose(input.files[0]));
choose(input.files[0]); // chosen before this script was there
for (const kind of ["dragenter", "dragover"])
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.add("is-over");
  });
for (const kind of ["dragleave", "drop"])
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.remove("is-over");
  });
drop.addEventListener("drop", (event) => choose(event.dataTransfer.files[0]));
// a file dropped beside the box must not replace the page
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
