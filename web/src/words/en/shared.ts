// English: what many pages say.

export const shared = {
  "more": "More",
  "cancel": "Cancel",
  "rename": "Rename",
  "delete": "Delete",
  "fork": "Fork",
  "export": "Export",
  "search": "Search",
  "untitled": "Untitled",
  "failed": "It did not work.",
  "showAll": "Show all {count} characters",
  "notFound": "There is no such thing here.",
  "menu": "Menu",
  "close": "Close",
};
