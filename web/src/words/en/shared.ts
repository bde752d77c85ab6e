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
  "failed": "Something went wrong.",
  "showAll": "Show all {count} characters",
  "notFound": "Not found.",
  "menu": "Menu",
  "close": "Close",
};
