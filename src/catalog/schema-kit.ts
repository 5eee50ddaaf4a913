/** Building blocks of the configuration file's schemas. Editors show the descriptions, and mistakes quote them. */
import { Type, type TProperties } from "../base/json-schema.ts";

/** An object that allows no other keys. */
export const closed = <Properties extends TProperties>(
  properties: Properties,
  description?: string,
) =>
  Type.Object(properties, {
    additionalProperties: false,
    ...(description === undefined ? {} : { description }),
  });

export const usd = (what: string) =>
  Type.String({
    pattern: "^\\d{1,9}(\\.\\d{1,9})?$",
    description: `${what}, a decimal string such as "2.50"`,
  });
export const perMillion = (what: string) => usd(`USD per million ${what}`);
export const text = (description: string) => Type.String({ minLength: 1, description });
/** The largest value of timers, in milliseconds, and of the database's integers. */
const most = 2 ** 31 - 1;
export const count = (description: string) =>
  Type.Integer({ minimum: 1, maximum: most, description });
export const seconds = (description: string) =>
  Type.Number({ exclusiveMinimum: 0, maximum: Math.floor(most / 1_000), description });
/** A day or a moment in UTC. record-references.ts checks that it exists. */
export const moment = (what: string) =>
  Type.String({
    pattern: "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2})?Z)?$",
    description: `${what}: 2027-01-01, or 2027-01-01T12:00Z; in UTC`,
  });
/** A day. record-references.ts checks that it exists. */
export const day = (what: string) =>
  Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: `${what}, such as 2027-01-01` });
