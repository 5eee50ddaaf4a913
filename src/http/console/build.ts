/**
 * The built console, in memory: read when somebody first looks at it, and again when another build has taken its place.
 * docs/console.md; scripts/console.mjs builds it.
 */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownFile } from "../../base/own-files.ts";

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

export interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzip: Buffer | undefined;
  readonly brotli: Buffer | undefined;
}

export interface Build {
  /** With `CSP_NONCE` where the nonce of an answer belongs. */
  readonly index: string;
  /** The first steps of the pages' addresses. */
  readonly pages: ReadonlySet<string>;
  /** By file name; those of the build before among them, for pages that are still open. */
  readonly assets: ReadonlyMap<string, Asset>;
}

export interface Builds {
  /** The build that is there now; undefined before the first one is made. */
  current(): Build | undefined;
  /** Why the last one could not be made; undefined where nothing went wrong, or nobody tried. */
  failure(): string | undefined;
}

const folderDefault = fileURLToPath(ownFile("console/"));
/** How often it is looked whether another build is there. */
const lookMs = 1_000;

function readAssets(folder: string): [string, Asset][] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder);
  const packed = (name: string): Buffer | undefined =>
    names.includes(name) ? readFileSync(join(folder, name)) : undefined;
  return names.flatMap((name) => {
    const type = types[extname(name)];
    if (type === undefined) return [];
    const bytes = readFileSync(join(folder, name));
    return [[name, { type, bytes, gzip: packed(`${name}.gz`), brotli: packed(`${name}.br`) }]];
  });
}

function readBuild(dist: string): Build {
  const read = (name: string): string => readFileSync(join(dist, name), "utf8");
  return {
    index: read("index.html"),
    pages: new Set(JSON.parse(read("pages.json")) as string[]),
    assets: new Map([...readAssets(join(dist, "previous")), ...readAssets(join(dist, "assets"))]),
  };
}

/** The builds of a folder, `console` of this package if none is named. */
export function openBuilds(folder: string = folderDefault): Builds {
  const dist = join(folder, "dist");
  let lookedMs = -Infinity;
  let stamp: number | undefined;
  let build: Build | undefined;
  return {
    current() {
      const nowMs = performance.now();
      if (nowMs - lookedMs < lookMs) return build;
      lookedMs = nowMs;
      const found = statSync(join(dist, ".stamp"), { throwIfNoEntry: false })?.mtimeMs;
      if (found === undefined || found === stamp) return build;
      try {
        build = readBuild(dist);
        stamp = found;
      } catch {
        // It is just being replaced: the one before holds until the next look.
      }
      return build;
    },
    failure() {
      const file = join(folder, "dist-failed.txt");
      return existsSync(file) ? readFileSync(file, "utf8") : undefined;
    },
  };
}
