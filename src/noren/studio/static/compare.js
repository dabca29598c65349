// The map fills while runs go on: ask for the state, and draw anew what changed.
import {announce} from "./base.js";
import {draw} from "./charts.js";

const ASK_EVERY = 1000;
const place = document.getElementById("map");
if (place && Number(place.dataset.active) > 0) setTimeout(refresh, ASK_EVERY);

let told = "";

async function refresh() {
  let state;
  try {
    const answer = await fetch(place.dataset.state, {headers: {Accept: "application/json"}});
    if (!answer.ok) throw new Error(String(answer.status));
    state = await answer.json();
  } catch {
    setTimeout(refresh, 4 * ASK_EVERY);
    return;
  }
  const text = JSON.stringify([state.finding, state.chart]);
  if (text !== told) {
    if (!(await renew())) {
      setTimeout(refresh, 4 * ASK_EVERY);
      return;
    }
    told = text;
    const figure = place.querySelector("figure.chart");
    if (state.chart && !figure) {
      location.reload();
      return;
    }
    if (figure) draw(figure, state.chart);
  }
  document.getElementById("waiting").textContent = state.waiting;
  document.getElementById("searched").value = state.done;
  for (const run of state.runs) {
    const row = document.querySelector(`tr[data-run="${run.id}"]`);
    if (!row) continue;
    row.querySelector(".state").textContent = run.state === "running" ? `${run.state_words} ${Math.round(100 * run.done)}%` : run.state_words;
    row.querySelector("a").href = run.address;
  }
  // the table of a finished sweep is made by the server, with all its words and numbers
  if (state.active === 0) location.reload();
  else setTimeout(refresh, ASK_EVERY);
}

// Headline, reasons, legend and table are of one state: all of them come from the page as the server makes it now.
async function renew() {
  let page;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) throw new Error(String(answer.status));
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return false;
  }
  const before = document.getElementById("finding").textContent;
  for (const part of document.querySelectorAll("[data-renewed]")) {
    const fresh = page.getElementById(part.id);
    if (fresh) part.replaceChildren(...fresh.childNodes);
  }
  const now = document.getElementById("finding").textContent;
  if (now !== before) announce(now);
  return true;
}
