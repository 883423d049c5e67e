// The last look of each table, among the user's settings: whichever browser or tab it was chosen in.
import { call } from "../../api/client";

const PATH = "project-table";

/** The address's query that was stored last for this table; "" when there is none, or it cannot be read now. */
export async function lastLook(place: string): Promise<string> {
  await saving;
  try {
    const { settings } = await call("getUserSettings");
    return read(settings.find((one) => one.storagePath === PATH && one.key === place)?.value);
  } catch {
    // the table itself will say that the master is away
    return "";
  }
}

/** In the order of the calls; a reader waits for those under way. */
export function saveLook(place: string, search: string): void {
  const setting = { key: place, storagePath: PATH, value: JSON.stringify(search) };
  const save = () => call("putUserSettings", { body: { settings: [setting] } });
  // a look that was not remembered is no reason to disturb anybody
  saving = saving.then(save).catch(() => undefined);
}

let saving: Promise<unknown> = Promise.resolve();

/** What was ticked is of the moment. */
export function withoutSelection(search: string): string {
  const params = new URLSearchParams(search);
  params.delete("sel");
  return params.toString();
}

/** Whether a path is one of the project that a place ("3/run") belongs to. */
export function isAt(path: string, place: string): boolean {
  const [, noun, id] = path.split("/");
  return noun === "projects" && id === place.split("/")[0];
}

function read(value: string | null | undefined): string {
  try {
    const found: unknown = JSON.parse(value ?? '""');
    return typeof found === "string" ? found : "";
  } catch {
    return "";
  }
}
