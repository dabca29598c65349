/* The site's search. It stands in for the theme's worker, behind the theme's own box and list of results, for two
   reasons: a page opened from a folder may start no worker, and the worker finds few Japanese words, because it guesses
   where they end. Here a word is found wherever its letters stand. A section is a result when every word of the query,
   or "phrase in quotes", is in it or in its titles. */
"use strict";
{
  // what the theme's script and its worker say to each other
  const SETUP = 0, READY = 1, QUERY = 2, RESULT = 3;
  const BLOCK = /<\/?(?:p|pre|div|br|h\d|[uod]l|li|d[dt]|t(?:able|head|body|r|h|d))\b[^>]*>/g;
  const BEFORE = 40, AFTER = 160;

  /* Letters that count as the same. Their number stays, so that a place in the folded text is one in the text. */
  const folded = (text) => text.toLowerCase().replace(/is(?=e|ing|ation)/g, "iz").replaceAll("’", "'");

  const plain = (html) => {
    const page = new DOMParser().parseFromString(html.replace(BLOCK, " "), "text/html");
    return page.body.textContent.replace(/\s+/g, " ").trim();
  };

  /* The words of a query as patterns. We write "5 分", many type "5分": a space between the scripts is optional. */
  const wordsOf = (query) =>
    [...query.normalize("NFKC").matchAll(/"([^"]+)"|([^\s"]+)/g)]
      .map((found) => folded(found[1] ?? found[2]).replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .map((word) => word.replace(/(?<=[!-~])\s?(?=[\u3040-\u9fff])|(?<=[\u3040-\u9fff])\s?(?=[!-~])/g, "\\s?"));

  const times = (text, word) => text.match(new RegExp(word, "g"))?.length ?? 0;

  const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

  function marked(text, words) {
    const pieces = [];
    let end = 0;
    for (const { index, 0: found } of folded(text).matchAll(new RegExp(words.join("|"), "g"))) {
      pieces.push(escaped(text.slice(end, index)), `<mark>${escaped(text.slice(index, index + found.length))}</mark>`);
      end = index + found.length;
    }
    return pieces.join("") + escaped(text.slice(end));
  }

  /* The part of a section about the first word that is in it. */
  function excerpt(section, words) {
    const start = Math.max(0, section.inText.search(words.join("|")) - BEFORE);
    const part = section.text.slice(start, start + BEFORE + AFTER);
    const end = start + part.length < section.text.length ? " …" : "";
    return `<p>${start ? "… " : ""}${marked(part, words)}${end}</p>`;
  }

  /* Titles weigh most, a page's more than a section's, then words that stand together as in the query, then how often a
     word stands in the text. No word may be missing, and one must be the section's own. */
  function score(section, page, words) {
    let own = 0, above = 0;
    for (const word of words) {
      const here = times(section.inTitle, word) ? (section === page ? 20 : 10) : 0;
      const within = Math.min(times(section.inText, word), 5);
      const lent = times(page.inTitle, word) ? 3 : 0;
      if (!here && !within && !lent) return 0;
      own += here + within;
      above += lent;
    }
    const together = words.length > 1 && new RegExp(words.join("\\s")).test(`${section.inTitle} ${section.inText}`);
    return own && own + above + (together ? 10 : 0);
  }

  class SiteSearch extends EventTarget {
    postMessage({ type, data }) {
      if (type === SETUP) this.sections = data.docs.map(prepared);
      const answer = type === SETUP ? { type: READY } : { type: RESULT, data: { items: this.results(wordsOf(data)) } };
      if (type === SETUP || type === QUERY)
        queueMicrotask(() => this.dispatchEvent(new MessageEvent("message", { data: answer })));
    }

    /* Pages with their sections, best first; a page stands above its sections even if only they were found. */
    results(words) {
      if (!words.length) return [];
      const pages = new Map();
      let page;
      for (const section of this.sections) {
        if (!section.location.includes("#")) page = section;
        const found = score(section, page, words);
        if (!found) continue;
        if (!pages.has(page)) pages.set(page, []);
        pages.get(page).push({ section, score: found });
      }
      const best = (one, other) => other.score - one.score;
      return [...pages]
        .map(([page, found]) => {
          if (!found.some(({ section }) => section === page)) found.push({ section: page, score: 0 });
          return found.sort(best);
        })
        .sort(([one], [other]) => best(one, other))
        .map((found) => found.map(({ section, score }) => shown(section, score, words)));
    }
  }

  function prepared({ location, title, text }) {
    const section = { location, title: plain(title), text: plain(text) };
    return { ...section, inTitle: folded(section.title), inText: folded(section.text) };
  }

  const shown = (section, score, words) => ({
    location: section.location,
    title: marked(section.title, words),
    text: excerpt(section, words),
    score,
    terms: {},
  });

  window.Worker = SiteSearch;
}
