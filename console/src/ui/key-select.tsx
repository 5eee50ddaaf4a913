/** Chooses one of the keys that the reader sees. Only some are listed; typing searches all of them. */
import { Select } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import { api } from "../api/client.ts";
import { keyLabel } from "../base/key-label.ts";
import { listedMax, nothingFound, useSearched, withChosen } from "./use-searched.ts";

interface KeySelectProps {
  readonly ws: string | undefined;
  readonly value: string | undefined;
  readonly set: (id: string | undefined) => void;
  readonly placeholder?: string;
  readonly label?: string;
  /** Only active keys. */
  readonly isActive?: boolean;
}

const choiceOf = ({
  id,
  name,
  key_last4: end,
}: {
  id: string;
  name: string;
  key_last4: string;
}) => ({
  value: id,
  label: keyLabel(name, end),
});

/** Recently used keys, or those that match the text; includes the chosen one. */
function useChoices({ ws, value, isActive = false }: KeySelectProps, text: string) {
  const query = {
    limit: String(listedMax),
    sort: "used" as const,
    workspace_id: ws,
    q: text || undefined,
    status: isActive ? ("active" as const) : undefined,
  };
  const read = api.useQuery(
    "get",
    "/admin/v1/keys",
    { params: { query } },
    { placeholderData: keepPreviousData, staleTime: 30_000 },
  );
  const { data } = read;
  const found = (data?.data ?? []).map(choiceOf);
  const isMissing = value !== undefined && !found.some((one) => one.value === value);
  const { data: chosen } = api.useQuery(
    "get",
    "/admin/v1/keys/{id}",
    { params: { path: { id: value ?? "" } } },
    { enabled: isMissing && data !== undefined, staleTime: 30_000 },
  );
  return {
    data: withChosen(found, value, chosen && choiceOf(chosen)),
    nothingFoundMessage: nothingFound("Key", read),
  };
}

export function KeySelect(props: KeySelectProps) {
  const { value, set, placeholder = "Any key", label = "Key" } = props;
  const { wanted, field } = useSearched(set);
  return (
    <Select
      aria-label={label}
      placeholder={placeholder}
      w={200}
      {...useChoices(props, wanted)}
      value={value ?? null}
      {...field}
    />
  );
}
