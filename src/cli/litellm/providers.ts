/** Collects the providers of deployments: one for each address, key and setting, with a readable id. */
import { getOrCreate } from "../../base/memoize.ts";
import { isMap, numberOf, type Section, type Value } from "./file.ts";
import type { Report } from "./report.ts";
import type { Target } from "./target.ts";
import type { Variables } from "./variables.ts";

/** Collects providers; equal ones are merged. */
export class Providers {
  readonly #ids = new Map<string, string>();
  readonly rows: Record<string, unknown>[] = [];

  /** Returns the id of the provider for a target. */
  idOf({ vendor, place, row, isElsewhere }: Target): string {
    return getOrCreate(this.#ids, JSON.stringify(row), () => {
      const id = this.#free(isElsewhere === true ? `${vendor}-${place}` : vendor, place);
      this.rows.push({ id, ...row });
      return id;
    });
  }

  #free(vendor: string, place: string | undefined): string {
    const isTaken = (id: string): boolean => this.rows.some((row) => row["id"] === id);
    if (!isTaken(vendor)) return vendor;
    const base = place === undefined || vendor.endsWith(place) ? vendor : `${vendor}-${place}`;
    if (base !== vendor && !isTaken(base)) return base;
    for (let number = 2; ; number += 1)
      if (!isTaken(`${base}-${number}`)) return `${base}-${number}`;
  }
}

/** Returns a deployment's settings for calling its provider: headers and timeouts. Reports each. */
export function callSettings(
  params: Section,
  { report, variables }: { readonly report: Report; readonly variables: Variables },
): { readonly headers?: Record<string, string>; readonly timeouts?: object } {
  const settings: { headers?: Record<string, string>; timeouts?: object } = {};
  const headers = params.value("extra_headers");
  if (isMap(headers)) {
    const field = params.at("extra_headers");
    const fit = Object.entries(headers).filter((header): header is [string, string] => {
      const isFit = isHeader(header);
      if (!isFit) report.unsupported(`${field}.${header[0]}`, "is no header that can be set");
      return isFit;
    });
    settings.headers = Object.fromEntries(
      fit.map(([name, value]) => [name, variables.header(name, value, field)]),
    );
    if (fit.length > 0) report.takenOver(field, "providers[].headers");
    else report.unsupported(field, "has no header that can be set");
  }
  const timeouts = {
    first_byte_s: timeout(params, "stream_timeout", "first_byte_s", report),
    total_s: timeout(params, "timeout", "total_s", report),
  };
  if (timeouts.first_byte_s ?? timeouts.total_s) settings.timeouts = timeouts;
  return settings;
}

/** True if the file may set the header. The gateway or the connection sets the excluded ones. */
const isHeader = ([name, value]: readonly [string, Value]): boolean =>
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) &&
  !/^(host|connection|content-length|content-type|transfer-encoding|accept-encoding|upgrade)$/i.test(
    name,
  ) &&
  typeof value === "string" &&
  /^[\t\x20-\x7e]*$/.test(value);

/** Returns a time in seconds; undefined if the field is absent, 0 or not a number. Reports it. */
export function timeout(
  section: Section,
  name: string,
  to: string,
  report: Report,
): number | undefined {
  const seconds = numberOf(section.value(name));
  if (seconds === undefined || seconds === 0) return undefined;
  report.takenOver(section.at(name), `providers[].timeouts.${to}`);
  return seconds;
}
