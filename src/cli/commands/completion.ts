import { Argument, type Command } from "commander";
import type { CommandContext } from "../context.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** A command by its words, and what can follow it. */
interface Completion {
  readonly path: string;
  readonly words: readonly string[];
}

export function addCompletion(program: Command, { terminal }: CommandContext): void {
  program
    .command("completion")
    .summary("prints a completion script for a shell")
    .description('Prints a completion script. For bash: eval "$(perdure completion bash)" in ~/.bashrc.')
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .action((shell: (typeof SHELLS)[number]) => {
      const completions = collect(program, "");
      terminal.print({ bash: toBash, zsh: toZsh, fish: toFish }[shell](completions));
    });
}

function collect(command: Command, path: string): Completion[] {
  const own = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== "help");
  const flags = command.options.flatMap(({ long }) => (long ? [long] : []));
  const here = { path, words: [...own.map((one) => one.name()), ...flags, "--help"] };
  return [here, ...own.flatMap((one) => collect(one, path === "" ? one.name() : `${path} ${one.name()}`))];
}

function cases(completions: readonly Completion[]): string {
  return completions.map(({ path, words }) => `    "${path}") words="${words.join(" ")}" ;;`).join("\n");
}

/** The words before the one that is typed, without options, name the command. */
function toBash(completions: readonly Completion[]): string {
  return `_perdure() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
${completions
  .filter(({ path }) => path !== "")
  .map(({ path }) => `    "${path.includes(" ") ? path : ` ${path}`}") path="${path}" ;;`)
  .join("\n")}
    esac
  done
  case "$path" in
${cases(completions)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _perdure perdure`;
}

function toZsh(completions: readonly Completion[]): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${toBash(completions)}`;
}

function toFish(completions: readonly Completion[]): string {
  const lines = completions.flatMap(({ path, words }) => {
    const inner = path.split(" ").filter(Boolean);
    const seen = inner.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    const first = path === "" ? "__fish_use_subcommand" : seen;
    return words.map((word) =>
      word.startsWith("--")
        ? `complete -c perdure -n '${first}' -l ${word.slice(2)}`
        : `complete -c perdure -n '${first}' -a ${word}`,
    );
  });
  return ["complete -c perdure -e", ...lines].join("\n");
}
