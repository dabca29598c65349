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
const wrong = document.getElementById("upload-error");
let chosen = null;
let project = null;

function choose(file) {
  if (!file) return;
  chosen = file;
  if (!name.value.trim()) name.value = file.name.replace(/\.[^.]+$/, "").slice(0, 120);
  document.getElementById("drop-words").textContent = words.chosen.replace("{name}", file.name);
  source.disabled = true;
  showError(wrong, null);
  announce(words.chosen.replace("{name}", file.name));
}

async function begin() {
  button.disabled = true;
  showError(wrong, null);
  try {
    project ??= await send("POST", "/api/v1/projects", { name: name.value });
    bar.hidden = false;
    announce(words.sending);
    await upload(`/api/v1/projects/${project.id}/file?name=${encodeURIComponent(chosen.name)}`, chosen, (share) => {
      bar.value = share;
    });
    location.assign(`/projects/${project.id}/data`);
  } catch (error) {
    bar.hidden = true;
    button.disabled = false;
    showError(wrong, error);
  }
}

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
