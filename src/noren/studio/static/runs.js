// Runs as they happen: the page of one, and the list of a project's.
import {announce, ask, send} from "./base.js";
import {isOver, watch, watchProject} from "./live.js";

const page = document.getElementById("job");
const list = document.getElementById("runs");
if (page) follow(page);
if (list) followAll(list);
localTimes(document);

/** Return a duration as m:ss or h:mm:ss, as the server writes it. */
function short(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}:${two(seconds % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

function follow(box) {
  const words = JSON.parse(document.getElementById("page-words").textContent);
  const part = (id) => document.getElementById(id);
  const bar = box.querySelector("progress");
  const stages = [...box.querySelectorAll("[data-stage]")];
  const news = part("news");
  let began = box.dataset.elapsed === undefined ? null : performance.now() - 1000 * Number(box.dataset.elapsed);
  let stopping = false;
  let state = box.dataset.state;

  function showStage(name) {
    const now = stages.findIndex((stage) => stage.dataset.stage === name);
    stages.forEach((stage, at) => {
      stage.classList.toggle("is-past", at < now);
      if (at === now) stage.setAttribute("aria-current", "step");
      else stage.removeAttribute("aria-current");
    });
  }

  function showTime() {
    if (began === null) return;
    const seconds = Math.max(0, Math.floor((performance.now() - began) / 1000));
    part("time").hidden = false;
    part("elapsed").textContent = short(seconds);
  }

  // what a cluster does is told by the server, as a table
  let asked = 0;
  async function showCluster() {
    const old = part("cluster-stages");
    if (box.dataset.cluster === undefined || performance.now() - asked < 2000) return;
    asked = performance.now();
    try {
      const answer = await fetch(location.href);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("cluster-stages");
      if (fresh && fresh.textContent !== old.textContent) {
        const place = old.querySelector(".scroll");
        const [top, left, held] = [place?.scrollTop ?? 0, place?.scrollLeft ?? 0, old.contains(document.activeElement)];
        old.replaceChildren(...fresh.childNodes);
        old.querySelector(".scroll")?.scrollTo(left, top);
        if (held) old.querySelector(".scroll")?.focus();
      }
    } catch {
      // nobody answers: the next news ask again
    }
  }

  function show(job) {
    if (job.state === "running" && state === "waiting") {
      state = "running";
      began = performance.now();
      part("title").textContent = words.begun;
      document.title = words.begun + " · Noren";
    }
    if (job.state !== "running") return;
    bar.value = job.done;
    part("share").textContent = `${Math.floor(job.done * 100)}%`;
    if (job.words) part("happens").textContent = job.words;
    part("remaining").hidden = job.left === null;
    if (job.left !== null) part("left").textContent = short(job.left);
    showCluster();
    showStage(job.stage);
    if (job.best !== null) {
      part("best").hidden = false;
      part("best-value").textContent = job.best < 1000 ? job.best.toFixed(3) : String(Math.round(job.best));
    }
    const enough = part("enough");
    if (enough.contains(document.activeElement) && !job.can_stop) part("cancel").focus();
    enough.hidden = !job.can_stop || stopping;
    if (stopping && !job.can_stop) news.textContent = "";
    showTime();
  }

  if (state === "running") showStage(box.querySelector("[aria-current]")?.dataset.stage);
  const ticking = setInterval(showTime, 1000);
  watch(box.dataset.watch, {
    changed: show,
    over(job) {
      clearInterval(ticking);
      announce(words.over[job.state]);
      if (job.state === "done") location.replace(box.dataset.onward);
      else location.reload();
    },
    gone: () => location.reload(),
    lost: () => (news.textContent = words.lost),
    back: () => (news.textContent = ""),
  });

  async function act(event, name) {
    event.preventDefault();
    const button = event.currentTarget;
    const {question, yes, no} = button.dataset;
    if (question && !(await ask(question, {yes, no}))) return;
    button.setAttribute("aria-busy", "true");
    try {
      await send("POST", `/api/v1/jobs/${box.dataset.watch}/${name}`);
      if (name === "enough") {
        stopping = true;
        button.hidden = true;
        part("cancel").focus();
        news.textContent = words.stopping;
      }
    } catch (error) {
      news.textContent = error.message;
    } finally {
      button.removeAttribute("aria-busy");
    }
  }
  part("cancel").addEventListener("click", (event) => act(event, "cancel"));
  part("enough").addEventListener("click", (event) => act(event, "enough"));
}

function followAll(box) {
  if (!box.querySelector('[data-state="waiting"], [data-state="running"]')) return;
  const words = JSON.parse(document.getElementById("page-words").textContent);
  const stop = watchProject(box.dataset.project, {
    changed(jobs) {
      const known = new Map(jobs.map((job) => [job.id, job]));
      let moved = false;
      for (const row of box.querySelectorAll("[data-run]")) {
        const job = known.get(row.dataset.run);
        if (!job || job.state !== row.dataset.state) moved = true;
        const bar = row.querySelector("progress");
        if (!job || !bar || isOver(job)) continue;
        bar.value = job.done;
        row.querySelector('[data-part="share"]').textContent = `${Math.floor(job.done * 100)}%`;
        row.querySelector('[data-part="words"]').textContent = job.words;
        const left = job.left === null ? "" : `${words.left} ${short(job.left)}`;
        row.querySelector('[data-part="left"]').textContent = left;
      }
      if (moved) renew(box, stop);
    },
  });
}

async function renew(box, stop) {
  // the server says in words what a finished run found; a person who is on a button stays there
  stop();
  const answer = await fetch(location.href);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const other = fresh.getElementById("runs");
  if (!answer.ok || !other) return location.reload();
  const label = box.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  document.querySelector("h1").textContent = fresh.querySelector("h1").textContent;
  document.title = fresh.title;
  box.replaceWith(other);
  localTimes(other);
  if (label) [...other.querySelectorAll("[aria-label]")].find((e) => e.getAttribute("aria-label") === label)?.focus();
  announce(document.querySelector("h1").textContent);
  followAll(other);
}

function localTimes(root) {
  const style = new Intl.DateTimeFormat(document.documentElement.lang, {dateStyle: "medium", timeStyle: "short"});
  for (const time of root.querySelectorAll("time[datetime]")) time.textContent = style.format(new Date(time.dateTime));
}
