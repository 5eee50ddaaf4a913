/** A model's id as a link to its page. */
import { Link } from "@tanstack/react-router";

/** The path segments of an id: the vendor, and the rest. */
function stepsOf(id: string): { readonly vendor: string; readonly _splat: string } {
  const [vendor = "", ...rest] = id.split("/");
  return { vendor, _splat: rest.join("/") };
}

export const ModelLink = (props: { id: string; title?: string | undefined }) => (
  <Link
    to="/models/$vendor/$"
    params={stepsOf(props.id)}
    search={({ ws }) => ({ ws })}
    title={props.title}
  >
    {props.id}
  </Link>
);
