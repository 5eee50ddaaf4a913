/** Which configuration file counts, and what is said where none does though somebody meant one. docs/configuration.md. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { nearest } from "../base/suggest.ts";
import type { Environment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";

const defaultFile = "tollgate.yaml";

type Named = Pick<Environment, "configPath">;

/** The configuration file that counts: the one named, else `tollgate.yaml` where it exists. @throws UsageError for a name that is no file's */
export function configFile({ configPath }: Named): string | undefined {
  if (configPath === undefined) return existsSync(defaultFile) ? resolve(defaultFile) : undefined;
  const path = resolve(configPath);
  if (!existsSync(path)) throw new UsageError(missing(path));
  if (statSync(path).isDirectory())
    throw new UsageError(`${path} is a directory; name the configuration file in it`);
  return path;
}

/** The whole path is shown: a relative name is looked for where the command was started. */
function missing(path: string): string {
  const folder = dirname(path);
  if (!existsSync(folder))
    return `there is no configuration file ${path}: its directory does not exist`;
  const near = nearest(
    basename(path),
    namesIn(folder).filter((name) => isConfig.test(name)),
  );
  const fix =
    near === undefined
      ? "correct the name, or begin with what tollgate config example prints"
      : `did you mean "${near}"?`;
  return `there is no configuration file ${path}; ${fix}`;
}

const isConfig = /\.(?:ya?ml|json)$/i;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A line for each file beside us that is nearly called as the one that is read, where no file is: it would be left out without a word. */
export function unreadFiles(named: Named, folder = "."): string[] {
  const names = namesIn(folder);
  if (named.configPath !== undefined || names.includes(defaultFile)) return [];
  return names
    .filter((name) => /^\.?tollgate\.(?:ya?ml|json)$/i.test(name))
    .map(
      (name) =>
        `${resolve(folder, name)} is not read: the file is called ${defaultFile}, unless TOLLGATE_CONFIG names another`,
    );
}
