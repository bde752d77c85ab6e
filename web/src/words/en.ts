// Every word of the page in English.
import { build } from "./en/build";
import { keep } from "./en/keep";
import { shared } from "./en/shared";
import { talk } from "./en/talk";

export const en = { ...shared, ...talk, ...build, ...keep };
