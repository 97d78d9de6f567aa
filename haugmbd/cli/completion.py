r"""The command `haugmbd completion SHELL`: a completion script for bash or zsh, made from the parser itself.

bash:   eval "$(haugmbd completion bash)"       in ~/.bashrc
zsh:    eval "$(haugmbd completion zsh)"        in ~/.zshrc, after compinit
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from haugmbd.cli.model_argument import OK, by_name

BASH = """\
_haugmbd() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{commands}" -- "$word"))
        return
    fi
    case "$command" in
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    case "$word" in -*) ;; *) COMPREPLY+=($(compgen -f -- "$word")) ;; esac
}}
complete -o filenames -F _haugmbd haugmbd
"""

ZSH = """\
#compdef haugmbd
_haugmbd() {{
    local -a words_here
    if (( CURRENT == 2 )); then
        words_here=({commands})
        _describe command words_here
        return
    fi
    case "$words[2]" in
{cases}
    esac
    compadd -- $words_here
    [[ "$words[CURRENT]" == -* ]] || _files
}}
compdef _haugmbd haugmbd
"""


def add_command(add_parser: Callable[..., argparse.ArgumentParser], parser: argparse.ArgumentParser) -> None:
    """Add the command to those of `haugmbd`; `parser` is the whole parser."""
    command = add_parser("completion", help="print a completion script for bash or zsh")
    command.add_argument("shell", choices=("bash", "zsh"))
    command.set_defaults(run=lambda arguments: _print(arguments.shell, parser))


def _print(shell: str, parser: argparse.ArgumentParser) -> int:
    print(script(shell, parser), end="")
    return OK


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return the script of a shell."""
    words = {name: _words(command) for name, command in commands_of(parser).items()}
    if shell == "bash":
        cases = [f'        {name}) words="{" ".join(given)}" ;;' for name, given in words.items()]
        return BASH.format(commands=" ".join(words), cases="\n".join(cases))
    cases = [f"        {name}) words_here=({' '.join(given)}) ;;" for name, given in words.items()]
    return ZSH.format(commands=" ".join(words), cases="\n".join(cases))


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the commands of a parser by name."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(commands.choices)


def _words(command: argparse.ArgumentParser) -> list[str]:
    """Return the options of a command, the choices of its arguments, and the gallery where it takes a model."""
    words: list[str] = []
    for action in command._actions:
        words += [option for option in action.option_strings if option.startswith("--")]
        words += [str(choice) for choice in action.choices or ()]
        words += list(by_name()) if action.dest == "model" else []
    return words
