/**
 * The built console, in memory: read at the first request, and again when a new build has replaced it. docs/console.md;
 * scripts/console.mjs builds it.
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
  /** The page, with `CSP_NONCE` as the placeholder for each answer's nonce. */
  readonly index: string;
  /** The first path segments of the console's pages. */
  readonly pages: ReadonlySet<string>;
  /** By file name. Includes the assets of the previous build, for pages that are still open. */
  readonly assets: ReadonlyMap<string, Asset>;
}

export interface Builds {
  /** The current build; undefined before the first one is made. */
  current(): Build | undefined;
  /** Why the last build failed; undefined if it succeeded, or if no build was tried. */
  failure(): string | undefined;
}

const folderDefault = fileURLToPath(ownFile("console/"));
/** Least time between two checks for a new build, in ms. */
const checkMs = 1_000;

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

/** Opens the builds of a folder; by default, `console` of this package. */
export function openBuilds(folder: string = folderDefault): Builds {
  const dist = join(folder, "dist");
  let lookedMs = -Infinity;
  let stamp: number | undefined;
  let build: Build | undefined;
  return {
    current() {
      const nowMs = performance.now();
      if (nowMs - lookedMs < checkMs) return build;
      lookedMs = nowMs;
      const found = statSync(join(dist, ".stamp"), { throwIfNoEntry: false })?.mtimeMs;
      if (found === undefined || found === stamp) return build;
      try {
        build = readBuild(dist);
        stamp = found;
      } catch {
        // The build is being replaced right now: keep the previous one until the next check.
      }
      return build;
    },
    failure() {
      const file = join(folder, "dist-failed.txt");
      return existsSync(file) ? readFileSync(file, "utf8") : undefined;
    },
  };
}
