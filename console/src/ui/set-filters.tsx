/** Filters of the URL without a field of their own: a button each, which removes the filter. */
import { Button } from "@mantine/core";
import { isolated } from "../base/isolated.ts";

export function SetFilters<Name extends string>({
  names,
  filters,
  remove,
}: {
  readonly names: readonly Name[];
  readonly filters: Readonly<Partial<Record<Name, string | undefined>>>;
  readonly remove: (name: Name) => void;
}) {
  return names.map(
    (name) =>
      filters[name] !== undefined && (
        <Button
          key={name}
          variant="default"
          aria-label={`Remove the filter ${name}: ${isolated(filters[name])}`}
          onClick={() => remove(name)}
        >
          {name}: {isolated(filters[name])} ✕
        </Button>
      ),
  );
}
