/** Creates a key: New key, Create, Copy. For the reader, or for a member. */
import { Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, client, type Schemas } from "../../api/client.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { capsOf, noCaps } from "../../base/caps.ts";
import { isolated } from "../../base/isolated.ts";
import { mayAll } from "../../base/rights.ts";
import { CapsFields } from "../../ui/caps-fields.tsx";
import { useChange } from "../../ui/change.ts";
import { Copy } from "../../ui/copy.tsx";
import { CreateDialog, CreateForm } from "../../ui/create.tsx";
import { MemberSelect, useHasMember } from "../../ui/member-select.tsx";
import { ModelPicker } from "../../ui/model-picker.tsx";
import { searchableSelect } from "../../ui/use-searched.ts";
import { choicesMax } from "../../ui/workspaces.ts";
import { More } from "./more-button.tsx";
import { moreNames, moreOf, noMore } from "./more.ts";
import { useOpenWorkspaces } from "./queries.ts";

type Made = Schemas["KeyRecordWithKey"];

/** The full key, shown once; its owner can reveal it again. */
function Finished({ made, isOwn, close }: { made: Made; isOwn: boolean; close: () => void }) {
  return (
    <Stack gap="md">
      <Text>
        The key <strong>{made.name}</strong> is created
        {isOwn ? "." : `, for ${isolated(made.owner_email ?? "its owner")}.`} Keep it secret.
      </Text>
      <code className="mono">{made.key}</code>
      <Group gap="sm">
        <Copy text={() => made.key} label="the key" />
        {isOwn && (
          <Button
            size="xs"
            variant="default"
            renderRoot={(props) => (
              <Link to="/start" search={{ ws: made.workspace_id }} {...props} />
            )}
          >
            Open in Start
          </Button>
        )}
        <Button size="xs" variant="default" onClick={close}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}

const formNames = [
  "name",
  "workspace_id",
  "user_id",
  "spend_caps",
  "model_allowlist",
  ...moreNames,
];

/** The workspace and the owner of the new key. */
function usePlace(ws: string | undefined) {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const workspaces = useOpenWorkspaces();
  const [chosen, setWorkspace] = useState<string | null>(null);
  const workspace = chosen ?? ws ?? me?.memberships[0]?.workspace_id ?? workspaces[0]?.value;
  const maySeeOthers = me !== undefined && mayAll(me.rights, "key.create_for_member", workspace);
  const hasOthers = useHasMember(
    maySeeOthers ? workspace : undefined,
    ({ user_id: id, status }) => status === "active" && id !== me?.user_id,
  );
  const [owner, setOwner] = useState<string>();
  const moveTo = (other: string | null) => {
    setWorkspace(other);
    // A member of the previous workspace may not be in this one.
    setOwner(undefined);
  };
  const mayCache = me !== undefined && mayAll(me.rights, "key.loosen_limits", workspace);
  const own = me?.user_id;
  return { workspaces, workspace, moveTo, own, hasOthers, owner, setOwner, mayCache };
}

interface PlaceProps {
  readonly place: ReturnType<typeof usePlace>;
  readonly isFixed: boolean;
  readonly at: (name: string) => string | undefined;
}

/** Chooses the workspace, if there are several, and the owner, if the reader may. */
function Place({ place, isFixed, at }: PlaceProps) {
  const { workspaces, workspace, moveTo, own, hasOthers, owner, setOwner } = place;
  return (
    <>
      {!isFixed && workspaces.length > 1 && (
        <Select
          label="Workspace"
          {...searchableSelect}
          limit={choicesMax}
          allowDeselect={false}
          data={workspaces}
          value={workspace ?? null}
          error={at("workspace_id")}
          onChange={moveTo}
        />
      )}
      {hasOthers && workspace !== undefined && (
        <MemberSelect
          label="For"
          placeholder="me"
          ws={workspace}
          isActive
          without={own}
          value={owner}
          error={at("user_id")}
          set={setOwner}
        />
      )}
    </>
  );
}

function Fields({ ws, done }: { ws: string | undefined; done: (made: Made) => void }) {
  const place = usePlace(ws);
  const { workspace, owner } = place;
  const [name, setName] = useState("");
  const [caps, setCaps] = useState(noCaps);
  const [models, setModels] = useState<string[]>([]);
  const [more, setMore] = useState(noMore);
  const change = useChange({
    send: async () => {
      const body = {
        workspace_id: workspace ?? "",
        name,
        spend_caps: capsOf(caps),
        model_allowlist: models,
        ...moreOf(more),
        ...(owner !== undefined && { user_id: owner }),
      };
      return (await client.POST("/admin/v1/keys", { body })).data!;
    },
    invalidates: invalidatedPaths.key,
    done,
  });
  const { at } = change;
  return (
    <CreateForm change={change} shown={formNames} disabled={workspace === undefined}>
      <TextInput
        label="Name"
        data-autofocus
        required
        maxLength={200}
        value={name}
        error={at("name")}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Place place={place} isFixed={ws !== undefined} at={at} />
      <CapsFields fields={caps} set={setCaps} at={at} shown={["daily", "monthly"]} />
      <ModelPicker value={models} set={setModels} error={at("model_allowlist")} />
      <More fields={more} set={setMore} at={at} mayCache={place.mayCache} />
    </CreateForm>
  );
}

interface NewKeyProps {
  readonly ws: string | undefined;
  readonly opened: boolean;
  readonly close: () => void;
}

export function NewKey({ ws, opened, close }: NewKeyProps) {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const [made, setMade] = useState<Made>();
  const leave = () => {
    setMade(undefined);
    close();
  };
  const isMade = made !== undefined;
  return (
    <CreateDialog opened={opened} close={leave} title={isMade ? "Your new key" : "New key"}>
      {isMade ? (
        <Finished made={made} isOwn={made.created_by === me?.user_id} close={leave} />
      ) : (
        <Fields ws={ws} done={setMade} />
      )}
    </CreateDialog>
  );
}
