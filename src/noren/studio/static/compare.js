// The map fills while runs go on: ask for the state, and draw anew what changed.
import {announce} from "./base.js";
import {draw} from "./charts.js";

const ASK_EVERY = 1000;
const place = document.getElementById("map");
if (place && Number(place.dataset.active) > 0) setTimeout(refresh, ASK_EVERY);

let drawn = "";

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
  const finding = document.getElementById("finding");
  if (finding.textContent !== state.finding) {
    finding.textContent = state.finding;
    announce(state.finding);
  }
  document.getElementById("waiting").textContent = state.waiting;
  const figure = place.querySelector("figure.chart");
  if (state.chart && !figure) {
    location.reload();
    return;
  }
  const text = JSON.stringify(state.chart);
  if (figure && text !== drawn) {
    drawn = text;
    draw(figure, state.chart);
  }
  for (const run of state.runs) {
    const row = document.querySelector(`tr[data-run="${run.id}"]`);
    if (!row) continue;
    const cells = row.querySelectorAll("td");
    cells[0].textContent = run.state === "running" ? `${run.state_words} ${Math.round(100 * run.done)}%` : run.state_words;
    row.querySelector("a").href = run.address;
  }
  // the table of a finished sweep is made by the server, with all its words and numbers
  if (state.active === 0) location.reload();
  else setTimeout(refresh, ASK_EVERY);
}
