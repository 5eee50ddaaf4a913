/** Chooses a member of a workspace. Only some are listed; typing searches all of them. */
import { Select, type SelectProps } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import { api, type Schemas } from "../api/client.ts";
import { listedMax, nothingFound, useSearched, withChosen } from "./use-searched.ts";

const choiceOf = ({ user_id: value, email: label }: Schemas["Member"]) => ({ value, label });

function useFound(ws: string | undefined, text: string) {
  const query = { limit: String(listedMax), q: text || undefined };
  return api.useQuery(
    "get",
    "/admin/v1/workspaces/{id}/members",
    { params: { path: { id: ws ?? "" }, query } },
    { enabled: ws !== undefined, placeholderData: keepPreviousData, staleTime: 30_000 },
  );
}

/** True if a workspace has a member whom `is` accepts among the newest, or more members than these. */
export function useHasMember(
  ws: string | undefined,
  is: (member: Schemas["Member"]) => boolean,
): boolean {
  const { data } = useFound(ws, "");
  // Without a workspace, this is still the list of the one before.
  return ws !== undefined && data !== undefined && (data.has_more || data.data.some(is));
}

interface MemberSelectProps extends Pick<
  SelectProps,
  "aria-label" | "label" | "placeholder" | "error" | "w"
> {
  readonly ws: string;
  readonly value: string | undefined;
  readonly set: (id: string | undefined) => void;
  /** Only active members, who can have keys. */
  readonly isActive?: boolean;
  /** A member who is left out. */
  readonly without?: string | null | undefined;
}

export function MemberSelect(props: MemberSelectProps) {
  const { ws, value, set, isActive = false, without, ...shown } = props;
  const { wanted, field } = useSearched(set);
  const read = useFound(ws, wanted);
  const members = read.data?.data;
  const found = (members ?? [])
    .filter(({ status, user_id: id }) => (!isActive || status === "active") && id !== without)
    .map(choiceOf);
  const isMissing = value !== undefined && !found.some((one) => one.value === value);
  const { data: chosen } = api.useQuery(
    "get",
    "/admin/v1/workspaces/{id}/members/{user_id}",
    { params: { path: { id: ws, user_id: value ?? "" } } },
    { enabled: isMissing && members !== undefined, staleTime: 30_000 },
  );
  return (
    <Select
      {...shown}
      data={withChosen(found, value, chosen && choiceOf(chosen))}
      value={value ?? null}
      nothingFoundMessage={nothingFound("Member", read)}
      {...field}
    />
  );
}
