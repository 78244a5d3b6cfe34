"""What a script can do to a model, a tokenizer or a trainer, in words that hold for every library."""

from __future__ import annotations

# kind -> what happened. `data` of an event uses the names after the dash.
EVENTS = {
    "unread": "a part of the script that nobody could follow: it may hold any other event - reason",
    "load": "a base model is loaded from a name or folder - bits (16 for none), class, classifier, headed (its head is"
    " a new one), outputs (of a classifier), unsloth, padded (it is told its padding token, or a config that may"
    " tell it)",
    "load-tokenizer": "a tokenizer is loaded",
    "prepare": "prepare_model_for_kbit_training: freezes everything, casts norms, hooks input gradients -"
    " checkpointing, reentrant",
    "enable-input-grads": "outputs of the embedding are made to require gradients",
    "checkpointing": "gradient checkpointing is switched on by hand - reentrant (as given), reenters (not told not to)",
    "wrap": "an adapter is put on a model - named (it has a name of its own), beside (as one of several with names),"
    " own (by the model's add_adapter, which keeps several apart and refuses a second of one name), unsloth,"
    " wrapped (it already has one), inner (on a part of a model), config (the number of the object that says what"
    " adapter)",
    "trainer-wrap": "a trainer is told to put an adapter on its model - wrapped (it already has one), beside, own,"
    " inner, trl, config",
    "load-adapter": "a saved adapter is put on a model - trainable, wrapped (the model has a fresh one)",
    "freeze": "parameters are made to require no gradient - wrapped (of a model that an adapter was put on)",
    "unfreeze": "parameters are made to require gradients by hand",
    "cast": "a model is cast as a whole - dtype, bits (as it was loaded), wrapped (an adapter is on it)",
    "move": "a model is moved to a device - bits, wrapped",
    "add-tokens": "tokens are added to the vocabulary - only_pad, empty, resized (a model gets rows for them),"
    " of_encoder (it is that of a BERT)",
    "resize": "the embedding is resized",
    "set-pad": "a padding token is chosen - is_eos, ends (rows carry an end token, or the script does not show them)",
    "set-eos": "an end token is chosen - literal (by its text)",
    "collator": "a data collator is made - masks_pad (padding is left out of the loss by the number of its token),"
    " fills (tokens are hidden for the model to guess), class, number (of the object)",
    "mask-prompts": "what is no answer is taken out of the loss - written (template of the rows), sought (template that"
    " the marks are of), differs",
    "trainer": "a trainer is made - has_args, has_peft_config, wrapped, wrapped_by, trl, has_ref_model,"
    " own_reference (its model is the reference too), evaluates,"
    " formats (a formatting function is given), has_metrics (more than the loss may be computed), splits (a dictionary"
    " of splits stands for its rows), sets (its rows for evaluation have names), class, args_class (of its arguments),"
    ' collator (class of what makes batches, "" for its own), labelled (its rows may have labels),'
    " own_loss (the program may compute the loss), paired (its model is still together with the tokenizer),"
    " reduced (logits are made smaller before they are kept for metrics), valued (class of PPO's value model)",
    "own-batches": "a trainer that gets a tokenizer and no collator makes batches in its own way - class",
    "transform": "rows of a dataset change as they are read - media (into what a model takes of pictures or sound)",
    "flatten": "FSDP joins the parameters of a block into one, all trained or none - wrapped (an adapter is on)",
    "train": "training starts - resume",
    "merge": "an adapter is merged into its base - bits",
    "unload": "an adapter is taken off its model",
    "save": "a model or adapter is saved - state_dict, bare (of an object that no adapter was put on), merged (it is"
    " what merging gave back)",
    "backward": "gradients are computed by hand, in a program that makes an Accelerator - accelerated (by its method)",
    "optimizer": "an optimizer is made by hand - has_peft_config (never)",
    "set-attribute": "an attribute is set that decides something - name, value",
}
# every name that the data of an event may have
EVENT_DATA = (
    "accelerated", "args_class", "bare", "beside", "bits", "checkpointing", "class", "classifier", "collator",
    "config", "differs", "dtype", "empty", "ends", "evaluates", "fills", "formats", "has_args", "has_metrics",
    "has_peft_config", "has_ref_model", "headed", "is_eos", "labelled", "literal", "masks_pad", "media", "merged",
    "name", "named", "number", "of_encoder", "only_pad", "outputs", "own", "own_loss", "own_reference", "padded",
    "paired", "reason", "reduced", "reenters", "reentrant", "resized", "resume", "sets", "sought", "splits",
    "state_dict", "trainable", "trl", "unsloth", "value", "valued", "wrapped", "wrapped_by", "written",
)  # fmt: skip
