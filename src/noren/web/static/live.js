// Work under way, told as it happens: server-sent events, and asking now and then where they do not come through.
//
//   const stop = watch(jobId, {changed(job), over(job), gone(), lost(), back()});
//   const stop = watchProject(projectId, {changed(jobs), lost(), back()});
//
// `changed` hears every change, `over` once when nothing more will happen (job.state: done, failed, cancelled,
// interrupted), `gone` when the job was removed, `lost` when the studio does not answer and `back` when it does again.
// Every callback may be left out. A browser holds few connections to one place, so a hidden tab lets go of its own and
// asks now and then instead.

const OVER = new Set(["done", "failed", "cancelled", "interrupted"]);
const ASK_EVERY = 1000;
const ASK_HIDDEN_EVERY = 4000;
const SLOWEST = 8000;

export function isOver(job) {
  return OVER.has(job.state);
}

export function watch(job, callbacks) {
  const said = {changed() {}, over() {}, gone() {}, lost() {}, back() {}, ...callbacks};
  return listen({
    events: `/api/v1/jobs/${job}/events`,
    answer: `/api/v1/jobs/${job}`,
    heard(told) {
      said.changed(told);
      if (isOver(told)) {
        said.over(told);
        return false;
      }
      return true;
    },
    said,
  });
}

export function watchProject(project, callbacks) {
  const said = {changed() {}, gone() {}, lost() {}, back() {}, ...callbacks};
  return listen({
    events: `/api/v1/projects/${project}/events`,
    answer: `/api/v1/projects/${project}/runs`,
    heard(told) {
      said.changed(told);
      return true;
    },
    said,
  });
}

function listen({events, answer, heard, said}) {
  let source = null;
  let timer = null;
  let ended = false;
  let away = false;
  let wait = ASK_EVERY;
  let turn = 0; // only the latest way of listening goes on

  function end() {
    ended = true;
    quiet();
    document.removeEventListener("visibilitychange", begin);
  }

  function quiet() {
    source?.close();
    source = null;
    clearTimeout(timer);
    timer = null;
  }

  function take(told) {
    if (ended) return;
    wait = ASK_EVERY;
    if (away) {
      away = false;
      said.back();
    }
    if (!heard(told)) end();
  }

  function noAnswer() {
    if (!away) {
      away = true;
      said.lost();
    }
  }

  function begin() {
    if (ended) return;
    quiet();
    turn += 1;
    if (document.hidden || !("EventSource" in window)) {
      ask(turn);
      return;
    }
    const mine = turn;
    source = new EventSource(events);
    source.onmessage = (event) => take(JSON.parse(event.data));
    source.addEventListener("gone", () => {
      end();
      said.gone();
    });
    source.onerror = () => {
      if (ended) return;
      // asking tells whether the studio is there, and goes on where events do not come through
      quiet();
      timer = setTimeout(ask, wait / 2, mine);
    };
  }

  async function ask(mine) {
    if (ended || mine !== turn) return;
    try {
      const response = await fetch(answer, {headers: {Accept: "application/json"}});
      if (mine !== turn) return;
      if (response.status === 404) {
        end();
        said.gone();
        return;
      }
      if (response.status === 401) {
        end();
        location.assign("/login"); // it tells why one is out
        return;
      }
      if (!response.ok) throw new Error(response.statusText);
      const wasAway = away;
      take(await response.json());
      if (wasAway && !document.hidden) {
        begin();
        return;
      }
    } catch {
      noAnswer();
      wait = Math.min(wait * 1.5, SLOWEST);
    }
    if (!ended && mine === turn) timer = setTimeout(ask, document.hidden ? Math.max(wait, ASK_HIDDEN_EVERY) : wait, mine);
  }

  document.addEventListener("visibilitychange", begin);
  window.addEventListener("pagehide", quiet);
  window.addEventListener("pageshow", (event) => event.persisted && begin());
  begin();
  return end;
}
