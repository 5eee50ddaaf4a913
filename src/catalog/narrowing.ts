/** Checks that a model's `parameters` in the configuration file narrow the protocol's limits. */
import { domainFault, recordDomains } from "./parameters.ts";
import type { Narrowing, ParameterDomain } from "./record.ts";

/** The reason why a narrowing does not narrow its parameter's domain; undefined if it does. */
export function narrowingFault(name: string, narrowing: Narrowing): string | undefined {
  const domain = recordDomains[name];
  if (domain === undefined) return undefined;
  return (
    typeFault(domain, narrowing) ?? rangeFault(domain, narrowing) ?? memberFault(domain, narrowing)
  );
}

function typeFault(domain: ParameterDomain, { type }: Narrowing): string | undefined {
  if (type === undefined || type === domain.type || type === "enum") return undefined;
  return `its type is ${domain.type}`;
}

function rangeFault(domain: ParameterDomain, narrowing: Narrowing): string | undefined {
  const { min = -Infinity, max = Infinity } = narrowing;
  if (min > max) return "min is above max";
  if (narrowing.min !== undefined && min < (domain.min ?? -Infinity)) {
    return `min is below ${domain.min}`;
  }
  if (narrowing.max !== undefined && max > (domain.max ?? Infinity)) {
    return `max is above ${domain.max}`;
  }
  return undefined;
}

function memberFault(domain: ParameterDomain, { values, pattern }: Narrowing): string | undefined {
  if (pattern !== undefined && !isPattern(pattern)) {
    return `"${pattern}" is not a regular expression`;
  }
  const extra = values?.find((value) => domainFault(domain, value) !== undefined);
  return extra === undefined ? undefined : `the value ${extra} is outside what the protocol allows`;
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}
