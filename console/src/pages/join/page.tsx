/** Accepts an invitation, as the signed-in user or with a password. */
import { Button, Divider, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { api, client } from "../../api/client.ts";
import { isolated } from "../../base/isolated.ts";
import { fieldsOf } from "../../ui/form.ts";
import { FormError } from "../../ui/form-error.tsx";
import { LinkPage, useToken } from "../../ui/link-page.tsx";

interface Acceptance {
  readonly password?: string;
  readonly name?: string;
}

/** Accepts the invitation, then opens Start. */
function useAccept(token: string) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (how: Acceptance) =>
      client.POST("/auth/invitations/accept", { body: { token, ...how } }),
    onSuccess: async () => {
      queries.clear();
      await navigate({ to: "/start", search: {}, replace: true });
    },
  });
}

/** For a signed-in user. */
function AsMyself({ name, accept }: { name: string; accept: ReturnType<typeof useAccept> }) {
  return (
    <>
      <Button fullWidth loading={accept.isPending} onClick={() => accept.mutate({})}>
        Join as {isolated(name)}
      </Button>
      <Divider label="or with another account" my="md" />
    </>
  );
}

function Form({ token }: { token: string }) {
  const accept = useAccept(token);
  // The reader may not be signed in, which is no error here.
  const { data: me } = api.useQuery("get", "/admin/v1/me", {}, { retry: false });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const field = fieldsOf(event);
    const name = field("name");
    accept.mutate({ password: field("password"), ...(name !== "" && { name }) });
  };
  return (
    <>
      {me != null && me.user_id !== null && <AsMyself name={me.name} accept={accept} />}
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput name="name" label="Your name" autoComplete="name" maxLength={200} />
          <PasswordInput
            name="password"
            label="Password"
            description="If you already have an account here, its password. Otherwise a new one of at least ten characters."
            autoComplete="new-password"
            maxLength={128}
            required
          />
          <FormError error={accept.error} />
          <Button type="submit" loading={accept.isPending} fullWidth>
            Join
          </Button>
        </Stack>
      </form>
    </>
  );
}

const gone =
  "This invitation is not valid. It was used, replaced or withdrawn, or it has expired. Ask for a new one.";

export function JoinPage() {
  const token = useToken();
  const invitation = api.useQuery(
    "post",
    "/auth/invitations/read",
    { body: { token } },
    { enabled: token !== "" },
  );
  const { data } = invitation;
  return (
    <LinkPage title="Join" gone={gone} read={invitation}>
      {data !== undefined && (
        <>
          <Text mb="lg">
            You are invited to <strong>{data.workspace}</strong>
            {data.organization !== null && ` of ${isolated(data.organization)}`}.
          </Text>
          <Form key={token} token={token} />
        </>
      )}
    </LinkPage>
  );
}
