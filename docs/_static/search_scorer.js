/* The search of the site: the page of an object first, the list of changes last. */
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    if (docname.startsWith("generated/api/names/")) return score + 20;
    if (docname === "generated/changelog" || docname === "generated/notation") return score - 60;
    return score;
  },
  objNameMatch: 40,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
