r"""The command `haugmbd completion SHELL`: a completion script for bash or zsh, made from the parser itself.

bash:   eval "$(haugmbd completion bash)"       in ~/.bashrc
zsh:    eval "$(haugmbd completion zsh)"        in ~/.zshrc, after compinit
"""

from __future__ import annotations

import argparse

from haugmbd.cli.answers import OK
from haugmbd.cli.parser import gallery_names, parser
from haugmbd.public_names import PUBLIC

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


def run_completion(arguments: argparse.Namespace) -> int:
    """Print the script, and return the exit code."""
    print(script(arguments.shell), end="")
    return OK


def script(shell: str) -> str:
    """Return the script of a shell."""
    words = {name: _words(command) for name, command in commands_of(parser()).items()}
    if shell == "bash":
        cases = [f'        {name}) words="{" ".join(given)}" ;;' for name, given in words.items()]
        return BASH.format(commands=" ".join(words), cases="\n".join(cases))
    cases = [f"        {name}) words_here=({' '.join(given)}) ;;" for name, given in words.items()]
    return ZSH.format(commands=" ".join(words), cases="\n".join(cases))


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the commands of a parser by name."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(commands.choices)


def method_names() -> list[str]:
    """Return the names of formulations, integrators and stabilizations."""
    return [name for name, entry in PUBLIC.items() if entry.module.startswith(("haugmbd.formulations", "haugmbd.integrators"))]


def _words(command: argparse.ArgumentParser) -> list[str]:
    """Return the options of a command, the choices of its arguments, and the gallery where it takes a model."""
    words: list[str] = []
    for action in command._actions:
        words += [option for option in action.option_strings if option.startswith("--")]
        words += [str(choice) for choice in action.choices or ()]
        words += gallery_names() if action.dest in ("model", "name") else []
        words += method_names() if action.dest in ("method", "methods") else []
    return words
