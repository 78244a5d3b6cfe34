"""What a script can do to a model, a tokenizer or a trainer, in words that hold for every library."""

from __future__ import annotations

# kind -> what happened. `data` of an event uses the names after the dash.
EVENTS = {
    "load": "a base model is loaded from a name or folder - bits, dtype, device_map, auto_class",
    "load-tokenizer": "a tokenizer is loaded",
    "prepare": "prepare_model_for_kbit_training: freezes everything, casts norms, hooks input gradients",
    "enable-input-grads": "outputs of the embedding are made to require gradients",
    "checkpointing": "gradient checkpointing is switched on by hand - reentrant",
    "wrap": "an adapter is put on a model - adapter_name",
    "trainer-wrap": "a trainer is told to put an adapter on its model",
    "load-adapter": "a saved adapter is put on a model - trainable",
    "freeze": "parameters are made to require no gradient, all or by a condition",
    "unfreeze": "parameters are made to require gradients by hand",
    "cast": "a model is cast as a whole - dtype",
    "add-tokens": "tokens are added to the vocabulary",
    "resize": "the embedding is resized",
    "set-pad": "a padding token is chosen - is_eos",
    "set-eos": "an end token is chosen",
    "trainer": "a trainer is made - has_args, has_peft_config",
    "train": "training starts - resume",
    "merge": "an adapter is merged into its base - quantised",
    "save": "a model or adapter is saved",
    "optimizer": "an optimizer is made by hand",
    "set-attribute": "an attribute is set that decides something - name, value",
}
