/** Finds the configuration file in force, and warns about one that is present but ignored. docs/configuration.md. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { nearest } from "../base/suggest.ts";
import type { Environment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";

const defaultFile = "tollgate.yaml";

type Named = Pick<Environment, "configPath">;

/** The configuration file in force: the named one, else `tollgate.yaml` if it exists. @throws UsageError if the path is no file */
export function configFile({ configPath }: Named): string | undefined {
  if (configPath === undefined) return existsSync(defaultFile) ? resolve(defaultFile) : undefined;
  const path = resolve(configPath);
  if (!existsSync(path)) throw new UsageError(missing(path));
  if (statSync(path).isDirectory())
    throw new UsageError(`${path} is a directory; name the configuration file in it`);
  return path;
}

/** Shows the whole path, because a relative name depends on the directory in which the command was started. */
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

/** Warnings about files with nearly the default file's name if no file is read. Otherwise they would be ignored silently. */
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
