/** Leaves out undefined members: a field that the caller did not give is not sent, and does not change the stored value. */

/** Returns a copy of an object without its undefined members. */
export const defined = <Members extends object>(members: Members): Partial<Members> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Partial<Members>;
