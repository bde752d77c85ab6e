// Japanese: what many pages say.

export const shared: Record<keyof typeof import("../en/shared").shared, string> = {
  "more": "もっと見る",
  "cancel": "キャンセル",
  "rename": "名前を変更",
  "delete": "削除",
  "fork": "分岐",
  "export": "エクスポート",
  "search": "検索",
  "untitled": "無題",
  "failed": "エラーが発生しました。",
  "showAll": "{count} 文字をすべて表示",
  "notFound": "見つかりません。",
  "menu": "メニュー",
  "close": "閉じる",
};
