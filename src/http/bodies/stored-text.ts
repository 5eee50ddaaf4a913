/** Refuses text that the database cannot store: U+0000, and halves of surrogate pairs. JSON can spell both, but no caller means them. */
import { GatewayError } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";

/** How `param` writes an index: `image[0]` as in calls, or `credentials.0.id` as in the management API. */
export type PlaceStyle = "brackets" | "dots";

/** Refuses fields that hold such text, in a name or a value. @throws GatewayError `invalid_value` naming the place */
export function refuseUnstorableText(value: unknown, style: PlaceStyle, place = ""): void {
  if (typeof value === "string") return check(value, place);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      refuseUnstorableText(
        item,
        style,
        style === "dots" ? inside(place, String(index)) : `${place}[${index}]`,
      );
  } else if (isObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      check(name, place);
      refuseUnstorableText(inner, style, inside(place, name));
    }
  }
}

const inside = (place: string, name: string): string => (place === "" ? name : `${place}.${name}`);

function check(text: string, place: string): void {
  if (!text.includes("\0") && text.isWellFormed()) return;
  const param = place === "" ? null : place.slice(0, 200).toWellFormed();
  const where = param === null ? "A field's name" : `\`${param}\``;
  const message = `${where} has U+0000 or half of a surrogate pair, which cannot be stored: leave it out.`;
  throw new GatewayError("invalid_value", message, { param: param ?? undefined });
}
