/**
 * `npm run docs`: writes the generated documentation. `--check` writes nothing, names each stale file and exits 1; `npm run check`
 * and test/tidy use it.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chartsOf, pageWith, type Kept } from "../bench/report/page.ts";
import { openapiDocument } from "../src/http/openapi/full-document.ts";
import { commandLinePage } from "./docs-cli.ts";
import { configurationPage } from "./docs-configuration.ts";
import { errorsPage } from "./docs-errors.ts";
import { managementPage } from "./docs-management.ts";
import { mediaPage } from "./docs-media.ts";
import { mutantsPage } from "./docs-mutants.ts";
import { protocolsPage } from "./docs-protocols.ts";
import { reliabilityPage } from "./docs-reliability.ts";
import { requirementsPage, trapsPage } from "./docs-requirements.ts";
import { sandboxPage } from "./docs-sandbox.ts";
import { tasksPage } from "./docs-tasks.ts";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
/** The stored results of `npm run bench -- --docs`. */
const measured = JSON.parse(readFileSync(join(root, "docs/performance.json"), "utf8")) as Kept;

/** Each generated file with the function that makes it. */
const pages: Record<string, () => string> = {
  "docs/errors.md": errorsPage,
  "docs/configuration.md": configurationPage,
  "docs/management.md": managementPage,
  "docs/media.md": mediaPage,
  "docs/mutants.md": () => mutantsPage(root),
  "docs/protocols.md": protocolsPage,
  "docs/reliability.md": () => reliabilityPage(root),
  "docs/requirements.md": requirementsPage,
  "docs/sandbox.md": sandboxPage,
  "docs/tasks.md": tasksPage,
  "docs/traps.md": trapsPage,
  "docs/cli.md": commandLinePage,
  "docs/performance.md": () =>
    pageWith(readFileSync(join(root, "docs/performance.md"), "utf8"), measured),
  ...Object.fromEntries(
    [...chartsOf(measured)].map(([name, svg]) => [`docs/${name}`, () => svg] as const),
  ),
  "docs/openapi.json": () => `${JSON.stringify(openapiDocument(), null, 2)}\n`,
};

/** The text after formatting, so that a generated file passes `oxfmt --check`. JSON and charts stay unformatted. */
function format(path: string, text: string): string {
  if (/\.(?:json|svg)$/.test(path)) return text;
  const program = join(root, "node_modules/oxfmt/bin/oxfmt");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, `--stdin-filepath=${path}`],
    { cwd: root, input: text, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`oxfmt could not format ${path}: ${stderr}`);
  return stdout;
}

const check = process.argv.includes("--check");
for (const [path, write] of Object.entries(pages)) {
  const file = join(root, path);
  const wanted = format(path, write());
  const present = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (wanted === present) continue;
  if (check) {
    console.error(`docs: ${path} is stale; \`npm run docs\` writes it anew`);
    process.exitCode = 1;
  } else {
    writeFileSync(file, wanted);
    console.log(`docs: wrote ${path}`);
  }
}
