// Japanese: what many pages say.

export const shared: Record<keyof typeof import("../en/shared").shared, string> = {
  "more": "もっと見る",
  "cancel": "キャンセル",
  "rename": "名前を変更",
  "delete": "削除",
  "fork": "分岐",
  "export": "書き出す",
  "search": "検索",
  "untitled": "無題",
  "failed": "うまくいきませんでした。",
  "showAll": "{count} 文字をすべて表示",
  "notFound": "ここにはありません。",
  "menu": "メニュー",
  "close": "閉じる",
};
