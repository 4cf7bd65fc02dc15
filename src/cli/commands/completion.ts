import { Argument, type Command } from "commander";
import type { CommandContext } from "../context.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** A command by its words, and what can follow it. */
interface Completion {
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly flags: readonly Flag[];
}

interface Flag {
  readonly name: string;
  readonly short: string | undefined;
  readonly takesValue: boolean;
  /** The values that it accepts, if they are few. */
  readonly choices: readonly string[];
}

const INSTALL: Readonly<Record<Shell, string>> = {
  bash: 'eval "$(perdure completion bash)"   in ~/.bashrc',
  zsh: 'eval "$(perdure completion zsh)"    in ~/.zshrc, after compinit',
  fish: "perdure completion fish | source    in ~/.config/fish/config.fish",
};

export function addCompletion(program: Command, { terminal }: CommandContext): void {
  const lines = SHELLS.map((shell) => `  ${INSTALL[shell]}`).join("\n");
  program
    .command("completion")
    .summary("prints a completion script for a shell")
    .description("Prints a completion script.")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .addHelpText("after", `\nTo install it:\n${lines}`)
    .action((shell: Shell) => {
      terminal.print({ bash: toBash, zsh: toZsh, fish: toFish }[shell](collect(program, "")));
    });
}

function collect(command: Command, path: string): Completion[] {
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== "help");
  const commands = visible.map((one) => ({ name: one.name(), summary: one.summary() }));
  const flags = command.options.flatMap(({ long, short, required, optional, argChoices = [] }): Flag[] =>
    long ? [{ name: long, short, takesValue: required || optional, choices: argChoices }] : [],
  );
  const help = { name: "--help", short: "-h", takesValue: false, choices: [] };
  const inner = visible.flatMap((one) => collect(one, path === "" ? one.name() : `${path} ${one.name()}`));
  return [{ path, commands, flags: [...flags, help] }, ...inner];
}

/**
 * The same for bash and zsh: `typed` are the words before the one that is completed. Names are none that zsh uses itself, such
 * as `path` and `words`. With no candidate, the shell completes the names of files.
 */
function toCases(completions: readonly Completion[]): string {
  const steps = completions
    .filter(({ path }) => path !== "")
    .map(({ path }) => `      "${path.includes(" ") ? path : ` ${path}`}") subcommand="${path}" ;;`);
  const values = completions.flatMap(({ path, flags }) =>
    flags
      .filter(({ takesValue }) => takesValue)
      .map(({ name, short, choices }) => {
        const both = [name, ...(short ? [short] : [])].map((one) => `"${path}:${one}"`).join(" | ");
        return `    ${both}) candidates="${choices.join(" ")}" ;;`;
      }),
  );
  const words = completions.flatMap(({ path, commands, flags }) => [
    `    "${path}:-"*) candidates="${flags.map(({ name }) => name).join(" ")}" ;;`,
    `    "${path}:"*) candidates="${commands.map(({ name }) => name).join(" ")}" ;;`,
  ]);
  return `  for word in "\${typed[@]}"; do
    previous="$word"
    case "$subcommand $word" in
${steps.join("\n")}
    esac
  done
  case "$subcommand:$current" in
${words.join("\n")}
  esac
  case "$subcommand:$previous" in
${values.join("\n")}
  esac`;
}

function toBash(completions: readonly Completion[]): string {
  return `_perdure() {
  local current="\${COMP_WORDS[COMP_CWORD]}" subcommand="" previous="" candidates="" word
  local typed=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
${toCases(completions)}
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _perdure perdure`;
}

function toZsh(completions: readonly Completion[]): string {
  return `#compdef perdure
_perdure() {
  local current="\${words[CURRENT]}" subcommand="" previous="" candidates="" word
  local -a typed
  typed=("\${(@)words[2,CURRENT-1]}")
${toCases(completions)}
  compadd -- \${=candidates} || _files
}
compdef _perdure perdure`;
}

function toFish(completions: readonly Completion[]): string {
  const lines = completions.flatMap(({ path, commands, flags }) => {
    const seen = path.split(" ").filter(Boolean);
    const inner = commands.map(({ name }) => name);
    const conditions = [
      ...seen.map((word) => `__fish_seen_subcommand_from ${word}`),
      ...(seen.length === 0 ? ["__fish_use_subcommand"] : []),
      ...(seen.length > 0 && inner.length > 0 ? [`not __fish_seen_subcommand_from ${inner.join(" ")}`] : []),
    ];
    const start = `complete -c perdure -n '${conditions.join("; and ")}'`;
    return [
      ...commands.map(({ name, summary }) => `${start} -f -a ${name} -d '${summary.replaceAll("'", "\\'")}'`),
      ...flags.map(({ name, takesValue, choices }) => {
        const values = choices.length > 0 ? ` -x -a '${choices.join(" ")}'` : takesValue ? " -r" : "";
        return `${start} -l ${name.slice(2)}${values}`;
      }),
    ];
  });
  return ["complete -c perdure -e", ...lines].join("\n");
}
