/** Helpers for uncontrolled forms. */
import { useRef, type FormEvent } from "react";

const textIn = (form: FormData, name: string): string => {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
};

/** Returns a reader of the text fields of a submitted form, by name. */
export function fieldsOf(event: FormEvent<HTMLFormElement>): (name: string) => string {
  event.preventDefault();
  const form = new FormData(event.currentTarget);
  return (name) => textIn(form, name);
}

/**
 * Returns the current text of a filter form's fields, even if not submitted: it applies together with the next chosen filter. Empty if
 * a field is invalid; an empty field is no filter.
 */
export function useWritten<Name extends string>(names: readonly Name[]) {
  const form = useRef<HTMLFormElement>(null);
  const written = (): Partial<Record<Name, string | undefined>> => {
    if (form.current?.checkValidity() !== true) return {};
    const data = new FormData(form.current);
    const texts = names.map((name) => [name, textIn(data, name) || undefined] as const);
    return Object.fromEntries(texts) as Partial<Record<Name, string | undefined>>;
  };
  return { form, written };
}
