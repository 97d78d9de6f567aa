/* The search of the site: the page of an object first, the list of changes last. */
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    if (docname.startsWith("generated/api/names/")) {
      const name = docname.split("/").pop().replace("-function", "");
      return score + (anchor && anchor !== "#" + name ? 10 : 20); // a member of a class stands behind the name itself
    }
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
