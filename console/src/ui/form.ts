/** Forms whose fields the browser holds. */
import { useRef, type FormEvent } from "react";

const textIn = (form: FormData, name: string): string => {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
};

/** Reads a form's text field, by its name, when it is sent. */
export function fieldsOf(event: FormEvent<HTMLFormElement>): (name: string) => string {
  event.preventDefault();
  const form = new FormData(event.currentTarget);
  return (name) => textIn(form, name);
}

/**
 * What stands in the text fields of a form of filters now, whether it was sent or not: it counts with the next filter that is chosen.
 * Nothing where a field refuses what is written; an empty field is no filter.
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
