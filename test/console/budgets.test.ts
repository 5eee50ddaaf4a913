/**
 * The size of the compressed JavaScript of each page, and its number of files: for the first page, and the additions of each
 * further one.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

const dist = join(import.meta.dirname, "../../console/dist");
const firstMax = 250_000;
/** Each file is a request to the gateway, one round trip later if only another file names it. */
const firstFilesMax = 12;
const addedFilesMax = 14;

/** The most kB that a page or a separately loaded part adds. Change a number only if you know what has grown. */
const addedMax: Readonly<Record<string, number>> = {
  "pages/account/page.tsx": 4,
  "pages/alerts/page.tsx": 2,
  "pages/audit/page.tsx": 4,
  "pages/callbacks/page.tsx": 5,
  "pages/gateways/page.tsx": 4,
  "pages/hooks/page.tsx": 2,
  "pages/join/page.tsx": 2,
  "pages/key/page.tsx": 36,
  "pages/keys/more-fields.tsx": 15,
  "pages/keys/page.tsx": 12,
  "pages/ledger/page.tsx": 7,
  "pages/members/page.tsx": 25,
  "pages/models/compare.tsx": 5,
  "pages/models/one.tsx": 6,
  "pages/models/page.tsx": 9,
  "pages/money/page.tsx": 8,
  "pages/organization/page.tsx": 11,
  "pages/overview/chart-bars.tsx": 129,
  "pages/overview/chart-lines.tsx": 127,
  "pages/overview/page.tsx": 14,
  "pages/password/page.tsx": 2,
  "pages/playground/edit-mode.tsx": 33,
  "pages/playground/embedding-mode.tsx": 14,
  "pages/playground/image-mode.tsx": 14,
  "pages/playground/page.tsx": 28,
  "pages/playground/video-mode.tsx": 31,
  "pages/providers/one.tsx": 10,
  "pages/providers/page.tsx": 8,
  "pages/requests/one/page.tsx": 8,
  "pages/requests/one/peek.tsx": 8,
  "pages/requests/page.tsx": 15,
  "pages/reset/page.tsx": 2,
  "pages/tasks/one.tsx": 5,
  "pages/tasks/page.tsx": 10,
  "pages/workspace/page.tsx": 25,
  "pages/workspaces/page.tsx": 9,
  "ui/help.tsx": 2,
  "ui/palette.tsx": 7,
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

it("the first page, including Start, loads at most 250 kB", () => {
  expect(packed(first)).toBeGreaterThan(50_000);
  expect(packed(first)).toBeLessThan(firstMax);
});

const parts = Object.entries(manifest)
  .filter(([, { isDynamicEntry }]) => isDynamicEntry === true)
  .map(([name]) => name)
  .filter((name) => !first.has(manifest[name]!.file));

it("the first page loads at most 12 files, and each other page at most 14 more, in the median at most 4", () => {
  expect(first.size).toBeLessThanOrEqual(firstFilesMax);
  const counts = parts.map((name) => filesOf([name]).difference(first).size);
  expect(Math.max(...counts)).toBeLessThanOrEqual(addedFilesMax);
  expect(counts.toSorted((a, b) => a - b)[Math.floor(counts.length / 2)]).toBeLessThanOrEqual(4);
});

it("each other page adds at most its recorded size", () => {
  const sizes = Object.fromEntries(
    parts.map((name) => [
      name.replace("src/", ""),
      packed(filesOf([name]).difference(first)) / 1000,
    ]),
  );
  const wrong = Object.entries(sizes).filter(([name, size]) => {
    const max = addedMax[name] ?? 0;
    // A limit far above the present size would not show growth.
    return size > max || max > size * 1.25 + 2;
  });
  expect(Object.fromEntries(wrong)).toEqual({});
  expect(Object.keys(addedMax).toSorted()).toEqual(Object.keys(sizes).toSorted());
});
