// Our client against the scenarios for clients: the suite plays the server, and starts `client-run`
// with its address.
import { join } from "node:path";
import { HERE, suite } from "./scene.mjs";

const command = `${process.execPath} ${join(HERE, "client-run.mjs")}`;
for (const version of ["2025-11-25", "2026-07-28"]) {
  const words = ["client", "--command", command, "--suite", "all", "--spec-version", version];
  console.log(await suite(...words));
}
