// Chinese: what many pages say.

export const shared: Record<keyof typeof import("../en/shared").shared, string> = {
  "more": "更多",
  "cancel": "取消",
  "rename": "重命名",
  "delete": "删除",
  "fork": "另开分支",
  "export": "导出",
  "search": "搜索",
  "untitled": "未命名",
  "failed": "出错了。",
  "showAll": "显示全部 {count} 个字符",
  "notFound": "未找到。",
  "menu": "菜单",
  "close": "关闭",
};
