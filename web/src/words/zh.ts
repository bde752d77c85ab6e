// Every word of the page in Chinese.
import { build } from "./zh/build";
import { keep } from "./zh/keep";
import { shared } from "./zh/shared";
import { talk } from "./zh/talk";

export const zh = { ...shared, ...talk, ...build, ...keep };
