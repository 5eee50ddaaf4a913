/** How much JavaScript each page loads, packed: the first one, and what each further one adds to it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

const dist = join(import.meta.dirname, "../../console/dist");
const firstMax = 250_000;

/** What a page or a part that is loaded by itself adds, in kB at most. Change a number only knowing what has grown. */
const addedMax: Readonly<Record<string, number>> = {
  "pages/account/page.tsx": 10,
  "pages/alerts/page.tsx": 6,
  "pages/audit/page.tsx": 8,
  "pages/callbacks/page.tsx": 15,
  "pages/gateways/page.tsx": 6,
  "pages/hooks/page.tsx": 5,
  "pages/join/page.tsx": 3,
  "pages/key/page.tsx": 46,
  "pages/keys/more-fields.tsx": 18,
  "pages/keys/page.tsx": 38,
  "pages/ledger/page.tsx": 22,
  "pages/members/page.tsx": 30,
  "pages/models/compare.tsx": 7,
  "pages/models/one.tsx": 8,
  "pages/models/page.tsx": 30,
  "pages/money/page.tsx": 15,
  "pages/organization/page.tsx": 19,
  "pages/overview/chart-bars.tsx": 137,
  "pages/overview/chart-lines.tsx": 135,
  "pages/overview/page.tsx": 17,
  "pages/password/page.tsx": 2,
  "pages/playground/edit-mode.tsx": 40,
  "pages/playground/embedding-mode.tsx": 19,
  "pages/playground/image-mode.tsx": 19,
  "pages/playground/page.tsx": 32,
  "pages/playground/video-mode.tsx": 38,
  "pages/providers/one.tsx": 16,
  "pages/providers/page.tsx": 26,
  "pages/requests/one/page.tsx": 10,
  "pages/requests/one/peek.tsx": 11,
  "pages/requests/page.tsx": 35,
  "pages/reset/page.tsx": 3,
  "pages/tasks/one.tsx": 14,
  "pages/tasks/page.tsx": 25,
  "pages/workspace/page.tsx": 38,
  "pages/workspaces/page.tsx": 10,
  "ui/help.tsx": 7,
  "ui/palette.tsx": 9,
  "ui/sign-in-dialog.tsx": 2,
};

interface Chunk {
  readonly file: string;
  readonly isDynamicEntry?: boolean;
  readonly imports?: readonly string[];
}

const manifest = JSON.parse(readFileSync(join(dist, "manifest.json"), "utf8")) as Record<
  string,
  Chunk
>;

/** The files that some parts need at once. */
function filesOf(names: readonly string[], files = new Set<string>()): Set<string> {
  for (const name of names) {
    const { file, imports = [] } = manifest[name]!;
    if (files.has(file)) continue;
    files.add(file);
    filesOf(imports, files);
  }
  return files;
}

const packed = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file))).length, 0);

const first = filesOf(["index.html", "src/pages/sign-in/page.tsx", "src/pages/start/page.tsx"]);

it("the first page loads at most 250 kB, up to Start", () => {
  expect(packed(first)).toBeGreaterThan(50_000);
  expect(packed(first)).toBeLessThan(firstMax);
});

it("each further page adds what it is known to add, and no more", () => {
  const parts = Object.entries(manifest)
    .filter(([, { isDynamicEntry }]) => isDynamicEntry === true)
    .map(([name]) => name)
    .filter((name) => !first.has(manifest[name]!.file));
  const sizes = Object.fromEntries(
    parts.map((name) => [
      name.replace("src/", ""),
      packed(filesOf([name]).difference(first)) / 1000,
    ]),
  );
  const wrong = Object.entries(sizes).filter(([name, size]) => {
    const max = addedMax[name] ?? 0;
    // A bound far above what is there would not show what grows.
    return size > max || max > size * 1.25 + 2;
  });
  expect(Object.fromEntries(wrong)).toEqual({});
  expect(Object.keys(addedMax).toSorted()).toEqual(Object.keys(sizes).toSorted());
});
