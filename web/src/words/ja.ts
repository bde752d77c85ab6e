// Every word of the page in Japanese.
import { build } from "./ja/build";
import { keep } from "./ja/keep";
import { shared } from "./ja/shared";
import { talk } from "./ja/talk";

export const ja = { ...shared, ...talk, ...build, ...keep };
