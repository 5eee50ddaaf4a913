/** Forms whose fields the browser holds. */
import type { FormEvent } from "react";

/** Reads a form's text field, by its name, when it is sent. */
export function fieldsOf(event: FormEvent<HTMLFormElement>): (name: string) => string {
  event.preventDefault();
  const form = new FormData(event.currentTarget);
  return (name) => {
    const value = form.get(name);
    return typeof value === "string" ? value : "";
  };
}
