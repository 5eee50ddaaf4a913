/** Preloaded into a process: writes the name of each cloud library that it loads to the file `TEST_LOADS`, one a line. */
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

const library = /\/node_modules\/((?:@smithy|@aws-sdk|@azure)\/[^/]+|google-auth-library)\//;
const file = process.env["TEST_LOADS"]!;
const noted = new Set<string>();

registerHooks({
  load(url, context, next) {
    const name = library.exec(url)?.[1];
    if (name !== undefined && !noted.has(name)) {
      noted.add(name);
      appendFileSync(file, `${name}\n`);
    }
    return next(url, context);
  },
});
