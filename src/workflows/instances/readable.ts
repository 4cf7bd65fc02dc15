import type { InstanceHistory, LoadedEvents } from "../../store/instances/instance-records.ts";
import { refuseEncoded } from "../../values/index.ts";

/** Throws CodecError where something of a run can't be read, before its code meets it: that isn't the code's fault. */
export function readable<Loaded extends InstanceHistory | LoadedEvents | null>(loaded: Loaded): Loaded {
  if (loaded === null) return loaded;
  for (const { payload } of loaded.events) refuseEncoded(payload);
  if ("entries" in loaded) for (const { value } of loaded.entries) if (value !== null) refuseEncoded(value);
  return loaded;
}
